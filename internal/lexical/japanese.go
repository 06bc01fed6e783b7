package lexical

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Japanese writes names in Han or katakana and what joins them (particles, endings of verbs) in hiragana, so that a
// run of Han mostly is a name or a noun whole. Names among the runs are told by family names and forms of address,
// by endings of places and organisations, and by the closed list of prefectures.

// japaneseNames takes the names that single runs show.
func (m *miner) japaneseNames() {
	for i, s := range m.segments {
		if s.katakana || len(s.runes) > 2*maxGram {
			continue
		}
		start, end := s.offsets[0], s.offsets[len(s.runes)]
		if i > 0 && m.segments[i-1].katakana && m.segments[i-1].token == s.token {
			if p := m.segments[i-1]; p.offsets[len(p.runes)] == start && japaneseEnding(m.Text[start:end]) == end-start {
				m.term(m.Text[p.offsets[0]:end], Suffix) // トヨタ自動車
				continue
			}
		}
		run := m.Text[start:end]
		address := addressEnding(run)
		bare := strings.TrimSuffix(run, address)
		chars := utf8.RuneCountInString(bare)
		polite := address != "" || startsAny(m.Text[end:m.Tokens[s.token].End], politeForms())
		switch place := placeAt(run); {
		case japaneseEnding(run) > 0 && len(s.runes) >= 3 && !isIn(notJapaneseNames(), run) && !strings.HasSuffix(run, "都市") && !strings.HasPrefix(run, "各"):
			m.term(run, Suffix)
		case polite && chars >= 2 && chars <= 5 && placeAt(bare) == 0 && WordRank(bare) == Content:
			m.term(bare, Persona)
		case isFullName(bare):
			m.term(bare, Persona)
		case place > 0:
			m.term(run[:place], Suffix)
		}
	}
}

// japaneseEnding returns the length in bytes of the ending of a place or an organisation that run has, the longest;
// 0 if none.
func japaneseEnding(run string) int {
	for i := range run {
		if isIn(japaneseEndings(), run[i:]) {
			return len(run) - i
		}
	}
	return 0
}

// placeAt returns the length of the prefecture or great city that run starts with, 0 if none.
func placeAt(run string) int {
	for n, end := 0, 0; n < 3 && end < len(run); n++ {
		_, w := utf8.DecodeRuneInString(run[end:])
		if end += w; isIn(japanesePlaces(), run[:end]) {
			return end
		}
	}
	return 0
}

// isFullName reports whether a run is a family name and one to three characters of a given name.
func isFullName(run string) bool {
	for n, end := 0, 0; n < 3 && end < len(run); n++ {
		_, w := utf8.DecodeRuneInString(run[end:])
		end += w
		given := utf8.RuneCountInString(run[end:])
		if given >= 1 && given <= 3 && n+1+given >= 3 && isIn(japaneseFamilies(), run[:end]) {
			return !isIn(notGiven(), run[end:])
		}
	}
	return false
}

// addressEnding returns the form of address in Han that run ends with.
func addressEnding(run string) string {
	for _, w := range [...]string{"先生", "教授", "博士", "社長", "氏"} {
		if rest := strings.TrimSuffix(run, w); rest != run && utf8.RuneCountInString(rest) >= 2 {
			return w
		}
	}
	return ""
}

var (
	politeForms     = sync.OnceValue(func() map[string]struct{} { return set("さん さま くん ちゃん") })
	japaneseEndings = sync.OnceValue(func() map[string]struct{} {
		return set(`大学 大学院 学院 高校 中学校 小学校 銀行 病院 会社 研究所 研究会 協会 学会 連盟 財団 政府 新聞 新聞社 出版社 放送 鉄道 電力 自動車 製作所 製薬
電機 工業 建設 図書館 博物館 美術館 神社 空港 公園 省 庁 駅 県 府 市 区 町 村 郡 島 諸島 半島 平野 山脈 海峡 川 湖 山 岳 寺 城 橋 港 戦争 事件 祭`)
	})
	// notJapaneseNames end as names do and are none.
	notJapaneseNames = sync.OnceValue(func() map[string]struct{} {
		return set("大都市 中小会社 自治会 株式会社 有限会社 親会社 子会社 市町村 都道府県 不動産 各駅 無人島 火山島 国立大学 私立大学 国立公園 地方銀行 中央政府 世界大戦")
	})
	japanesePlaces = sync.OnceValue(func() map[string]struct{} {
		return set(`日本 北海道 青森 岩手 宮城 秋田 山形 福島 茨城 栃木 群馬 埼玉 千葉 東京 神奈川 新潟 富山 石川 福井 山梨 長野 岐阜 静岡 愛知 三重 滋賀 京都 大阪 兵庫
奈良 和歌山 鳥取 島根 岡山 広島 山口 徳島 香川 愛媛 高知 福岡 佐賀 長崎 熊本 大分 宮崎 鹿児島 沖縄 札幌 仙台 横浜 川崎 名古屋 神戸 松山 金沢 江戸 中国 韓国 台湾 英国 米国`)
	})
	japaneseFamilies = sync.OnceValue(func() map[string]struct{} {
		return set(`佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 斎藤 斉藤 清水 山崎 池田 橋本 阿部 石川 山下 中島
石井 小川 前田 岡田 長谷川 藤田 後藤 近藤 村上 遠藤 青木 坂本 藤井 西村 福田 太田 三浦 岡本 松田 中川 中野 原田 小野 田村 竹内 金子 和田 中山 藤原 石田 上田
森田 柴田 酒井 工藤 横山 宮崎 宮本 内田 高木 安藤 谷口 大野 丸山 今井 高田 藤本 武田 村田 上野 杉山 増田 平野 大塚 千葉 久保 松井 小島 岩崎 桜井 野口 松尾
菊地 木下 野村 佐野 渡部 杉本 新井 大西 島田 古川 水野 櫻井 高野 吉川 山内 西田 飯田 菊池 小山 北村 安田 五十嵐 川口 平田 中田 久保田 服部 川崎 岩田
土屋 福島 本田 樋口 秋山 永井 田口 山中 吉村 中西 浜田 松岡 夏目 芥川 川端 三島 太宰 森鴎 谷崎 志賀 島崎 樋口 与謝野 正岡 宮沢 村上 大江 徳川 織田 豊臣 足利
西郷 坂本 大久保 伊達 武田 上杉 明智 黒澤 宮崎 安倍 岸田 石破 小泉 福沢 新渡戸 野口 北里 湯川 朝永`)
	})
	// notGiven follow what looks like a family name: 中村 in front of 地区, 東 in front of 京都.
	notGiven = sync.OnceValue(func() map[string]struct{} {
		return set("地区 地方 地域 時代 方面 駅前 市内 県内 京都 日本 大学 家 氏 様 側 部 口 線 道 通 林 店 校 園 寺院 商店 工場 事務所 一族 夫妻 文学 作品 本 人 中 前 後 内 等 達 湖畔 海岸 料理 軍 社 製")
	})
)
