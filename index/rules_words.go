package index

import "strings"

// The cue words of types are written for this package; words that point to several types are left out.

// typesOf maps each word of the lists to its type.
func typesOf(lists map[ruleType]string) map[string]ruleType {
	m := make(map[string]ruleType)
	for t, list := range lists {
		for w := range strings.FieldsSeq(list) {
			m[w] = t
		}
	}
	return m
}

func wordSet(list string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

var (
	// cueTypes type a name by its head: the last word, or the one before "of".
	cueTypes = typesOf(map[ruleType]string{
		typeOrganization: `company inc ltd llc corp corporation gmbh plc co university college school academy institute institution foundation council
committee commission board ministry department agency bank office society association union club guild party parliament senate congress court
police army navy church team group press publisher publishing studio studios records network hospital laboratory lab labs authority bureau
cooperative co-operative federation league service trust firm brothers sons museum library archive archives observatory consortium gazette family bakery brewery shop store cooperative organization organisation agency`,
		typeLocation: `city town village county state province region district island islands isle street road avenue lane square bridge harbour harbor port bay
beach coast cape point rock valley hill mountain mount mountains river lake sea ocean strait sound fjord forest wood park garden house hall castle
palace station airport gate tower lighthouse mill quay pier dock wharf market inn hotel kingdom republic country territory north south east west
exchange mansion churchyard cornhill firth head ness reef shoal estuary marsh farm square creek quarry light lane cove brook pond alley
fluss strasse platz brucke muhle`,
		typeEvent: `day eve christmas easter festival fair war battle siege storm gale flood earthquake eclipse election revolution treaty conference congress
summit ceremony regatta olympics cup championship expedition voyage anniversary party crisis attack massacre feast new-year christmas-time rebellion
strike race games ball night hurricane typhoon`,
		typeMethod:   `algorithm method protocol theorem procedure technique process principle rule law test analysis model approach framework pipeline search sort retrieval`,
		typeContent:  `act report book journal times chronicle bible gospel novel poem song carol magazine newspaper paper chapter agreement license licence manifesto constitution letter ledger diary log observer herald tribune encyclopedia dictionary almanac`,
		typeData:     `dataset database index corpus catalogue catalog census table records`,
		typeArtifact: `engine ship boat vessel machine lamp lens bell clock telescope server api sdk cli gpu cpu toolkit library compiler software system app application program plugin driver browser kernel container image command bread lens bell trawler ferry`,
		typePerson:   `king queen prince princess emperor saint jr sr`,
		typeCreature: `ghost spirit phantom spectre goblin fairy giant dragon genie demon angel dog cat horse bear wolf whale`,
	})
	// leadTypes type a name by its first word.
	leadTypes = typesOf(map[ruleType]string{
		typeOrganization: "backerei brauerei universitat hochschule akademie firma verein stiftung verlag klinik universite universidad",
		typeLocation:     "lake mount river port cape fort san santa saint-",
		typePerson:       "king queen prince princess saint st mrs miss lady lord sir captain uncle aunt master old father mother",
	})
	fileTypes = typesOf(map[ruleType]string{
		typeData:     "csv json jsonl xml yaml yml parquet tsv sqlite db bin gguf safetensors",
		typeContent:  "md txt pdf docx html htm rst tex epub",
		typeArtifact: "go py js ts c h cc cpp rs java rb sh exe dll so toml ini conf env",
	})
	chineseEndings = typesOf(map[ruleType]string{
		typeOrganization:  "大学院 高校 銀行 病院 会社 研究会 協会 学会 連盟 財団 新聞 新聞社 放送 鉄道 電力 自動車 製作所 製薬 電機 工業 建設 図書館 博物館 美術館 公司 集团 大学 学院 学校 中学 小学 银行 医院 研究所 研究院 研究站 观测站 气象站 委员会 议会 理事会 协会 学会 商会 基金会 联盟 中心 博物馆 图书馆 档案馆 美术馆 法院 政府 部门 出版社 报社 电视台 合作社 工厂",
		typeLocation:      "灯塔 码头 磨坊 车站 机场 广场 公园 大桥 海峡 群岛 半岛 水库 运河 高原 平原 盆地 酒店 饭店 省 市 县 镇 村 区 岛 港 湾 路 街 桥 站 寺 庙 塔 宫 城 州 国",
		typeEvent:         "戦争 事件 祭 节 奖 战争 条约 会议",
		typeMethod:        "算法 协议 定理 模型 框架",
		typeConcept:       "计划 工程 项目",
		typeArtifact:      "系统 数据库 语言 号",
		typeNaturalObject: "山脉",
	})
	// kindTypes type a name by the word before it: the trawler Grey Heron.
	kindTypes = typesOf(map[ruleType]string{
		typeArtifact:     "trawler ship boat vessel ferry schooner steamer yacht library tool package command program engine",
		typeLocation:     "village town city island river lake county province state",
		typeOrganization: "company firm university institute",
		typeContent:      "newspaper magazine novel book film play poem song album",
		typeMethod:       "algorithm method protocol",
		typeData:         "dataset file table",
		typeEvent:        "hurricane typhoon",
	})
	articles = wordSet("a an the his her their its my our one")
	// countWords say when and how many, not how two things are related.
	countWords = wordSet(`two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred thousand million january february
march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday first second third`)
	saidVerbs   = wordSet("said says asked replied cried answered exclaimed whispered shouted returned muttered observed added repeated remarked inquired murmured")
	personVerbs = wordSet(`said says asked replied cried answered exclaimed whispered shouted muttered thought knew felt walked smiled laughed looked nodded wept sat stood ran
wrote writes remembered remembers married died born believed believes wondered decided promised told tells taught learned hoped wanted loved dressed
slept woke drank ate spoke frowned sighed trembled kept keeps painted sings sang retired argued argues grew hurried listened listens insists insisted`)
	roleWords = wordSet(`keeper engineer clerk merchant captain doctor professor teacher mayor director councillor chair chairman chairwoman president secretary
treasurer editor author writer poet painter baker miller carpenter fisherman sailor pilot nurse surgeon lawyer judge minister scientist biologist
geologist physicist chemist botanist historian archivist librarian student apprentice founder owner inventor inspector sergeant officer laundress
bachelor servant porter cook farmer smith blacksmith shipwright harbourmaster harbour-master oceanographer meteorologist technician mechanic actor
actress singer composer musician journalist reporter researcher chemist partner colleague dealer master mistress widow spirit boy girl man woman child lad
phantom apparition ghost senator governor ambassador general colonel lieutenant queen king prince princess emperor ceo founder-director cripple matron`)
	kinWords = wordSet(`wife husband son daughter mother father sister brother nephew niece uncle aunt cousin grandfather grandmother grandson granddaughter
friend clerk partner face hand hands eyes voice house heart son-in-law sweetheart fiancée widow head mind room`)
)
