package lexical

import (
	"strings"
	"sync"
)

// Characters that start or end no term, although they occur inside some.
const (
	badFirst = "亿会能可要说将来去到上下里后前时对从向给过得地多少等些种次第年月日号点度万千百十两几一二三四五六七八九零〇々"
	badLast  = "以并使被把让所亿会能可要说将来去到上下里后前时对从向给过得地多少等些种次年月日号点度万千百十两几一二三四五六七八九零〇时候了在曰"
)

// givenCharacters are those that most given names are made of.
const givenCharacters = "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉兰红梅建斌波辉鹏宇浩然晨阳轩涵怡婷雪琳欣慧倩颖洁莹薇菲萍玲燕莉蓉珍凤琴云月峰龙飞鑫博俊凯健志永春荣贵福祥瑞宏庆亮成辰雨梓梦佳嘉思诗琪瑶璐妍娇淑惠芬芝莲蕾彤晓德义仁智甫白牧维世振兴宁泽睿哲翔逸锋松柏森旭昊晖昌盛胜民"

// soundCharacters are those that foreign names are written with.
const soundCharacters = "阿埃艾爱安昂奥巴白拜班邦保贝本比彼宾波伯勃布采查川达代戴丹道德登邓迪蒂丁顿多厄恩尔法范菲费芬丰弗福富盖甘冈高戈格贡古瓜哈海汉豪赫黑亨洪胡华霍基吉季加佳嘉贾简江杰捷金京居卡凯坎康考柯科克肯孔库夸奎昆拉莱赖兰朗劳勒雷蕾黎里理丽丝利莉连列烈林琳隆卢鲁路露伦罗萝洛马玛迈麦曼芒茂梅门蒙米密明摩莫默姆木穆拿纳娜南瑙内尼宁牛纽农努诺欧帕派潘庞培佩彭皮匹平珀普奇齐契恰强乔切钦琴琼丘曲让热仁日荣茹儒瑞若撒萨塞赛桑瑟森沙珊尚绍舍申圣施什史斯思松苏素孙索塔泰坦汤唐陶特腾提田廷通图托瓦娅万旺威韦维伟卫魏温文翁沃乌吾武西希悉锡夏香肖谢辛欣兴姓休修许雪雅亚扬杨耶叶伊依以易因英永尤于约泽扎詹张章珍珠朱兹宗祖佐"

var (
	splitters = sync.OnceValue(func() map[string]struct{} {
		m := set(stopChinese)
		for _, w := range strings.Fields("能 会 要 说 可 对 从 向 给 无 过 或 再 使 更 最 着 所 有 只 并 以") {
			delete(m, w)
		}
		for _, w := range strings.Fields(splitVerbs) {
			m[w] = struct{}{}
		}
		return m
	})
	// keptWords hold a function character inside a word.
	keptWords = sync.OnceValue(func() []string {
		return strings.Fields("将军 将领 由于 目的地 的确 和平 和谐 和声 共和国 就业 就读 与会 而立 被子 把手 了解 不锈钢 不动产 其余 个人 个体 没收 为例 之江 于谦 及时 及格 都市 都城 也门 又名 还原 因子 因素 其实 该校 此刻 在线 在场 是非 不丹 不列颠 有机 有限公司 有限 没落")
	})
	chinesePlaces = sync.OnceValue(func() map[string]struct{} {
		return set(`中国 北京 天津 上海 重庆 辽宁 吉林 江苏 浙江 安徽 福建 广东 四川 贵州 陕西 甘肃 青海 台湾 广西 西藏 宁夏 新疆 香港 澳门 杭州 苏州 南京 广州 深圳 武汉 成都 西安
青岛 大连 沈阳 济南 郑州 长沙 福州 厦门 昆明 合肥 南昌 兰州 太原 长春 无锡 宁波 温州 绍兴 扬州 洛阳 桂林 拉萨 台北 日本 韩国 美国 英国 法国 德国 印度 俄国 巴黎 伦敦 纽约 东京`)
	})
	chanceChinesePlaces = sync.OnceValue(func() map[string]struct{} {
		return set("河北 河南 山西 山东 湖北 湖南 江西 海南 云南 海口 南宁")
	})
	suffixes = sync.OnceValue(func() map[string]struct{} {
		return set(`公司 集团 大学 学院 学校 中学 小学 银行 医院 研究所 研究院 研究站 观测站 气象站 委员会 议会 理事会 协会 学会 商会 基金会 联盟 中心
博物馆 图书馆 档案馆 美术馆 灯塔 码头 磨坊 车站 机场 广场 公园 大桥 海峡 群岛 半岛 水库 运河 高原 平原 山脉 盆地 法院 政府 部门 出版社 报社 电视台 合作社 工厂 酒店 饭店
省 市 县 镇 村 区 岛 港 湾 河 江 湖 海 山 路 街 桥 站 寺 庙 塔 宫 城 州 国 洲 节 奖 战争 条约 会议 计划 工程 项目 算法 协议 定理 模型 框架 系统 数据库 语言 号`)
	})
	// personAfter follow a personal name: titles and verbs that people do.
	personAfter = sync.OnceValue(func() map[string]struct{} {
		return set("先生 女士 小姐 博士 教授 老师 医生 主任 站长 馆长 船长 镇长 市长 校长 队长 工程师 研究员 说 说道 认为 表示 指出 写道 写下 记得 告诉 回答 问道 问 回忆 笑道 笑着 负责 担任 主持 发现 出生 毕业 创办 设计 提出 决定 来到 回到 走进 拿着 站在 住在 接任 接替 答应 亲自 带领 带着 原来 回赠 寄来 笑 叹 点头 摇头 曾 听 曰")
	})
	roles = sync.OnceValue(func() map[string]struct{} {
		return set("站长 馆长 船长 镇长 市长 校长 队长 主任 教授 博士 工程师 研究员 守塔人 看守人 医生 老师 记者 作家 诗人 画家 会计 主席 议员 书记 总统 总理 皇帝 将军 创始人 学者 学生 助手 技师 馆员 木匠 渔民 磨坊主 妻子 丈夫 儿子 女儿 父亲 母亲 哥哥 弟弟 姐姐 妹妹 孙女 孙子 名叫 叫做 祖父 祖母 外婆 朋友 同事")
	})
	relatives = sync.OnceValue(func() map[string]struct{} {
		return set("妻子 丈夫 儿子 女儿 父亲 母亲 爸爸 妈妈 哥哥 弟弟 姐姐 妹妹 孙女 孙子 祖父 祖母 爷爷 奶奶 外公 外婆 叔叔 舅舅 姑姑 朋友 同事 老师 学生")
	})
	// notPeople begin with a family name and are none.
	notPeople = sync.OnceValue(func() map[string]struct{} {
		return set("文件 路径 查找 方法 时间 范围 高级 任何 成功 成本 安全 任务 高效 关键 包括 时候 常用 金额 石油 江河 白色 黄色 马上 毛病 方向 方面 方便 方案 程序 程度 管理 向量 单位 单独 万一 段落 关闭 关于 高频 谷歌 安装 白天 文字 文档 文本 文化 文章 时代 时期 曲线 全部 全球 金属 高度 高端 高通 常常 万物 严格 严重 温度 牛奶 马路 和平 黎明 夏天 夏季 水平 平均 路线 项目 童年 单一 游客 游戏 关系 管道 任命 任期 成为 成员 成立 经常 经过 安排 安静 方才 程式 雷达 雷雨 海关 江边 江面 石头 石阶 石桥 石墙 石屋 白雾 黄昏 金色 高兴 易于 时刻 时常 席位 胡子 祖父 祖母 顾客 余下 毕竟 毕业 钱财 钟声 钟楼 叶片 林木 林场 梅花 水手 水位 潮水 高峰 高明 金星 石英 温柔 文明 文静 安宁 安平 易经 常春 白云 白雪 白兰 黄梅 金华 金龙 万德 成德")
	})
	families = sync.OnceValue(func() map[string]struct{} {
		return set(`王 李 张 刘 陈 杨 赵 黄 周 吴 徐 孙 胡 朱 高 林 何 郭 马 罗 梁 宋 郑 谢 韩 唐 冯 董 萧 程 曹 袁 邓 许 傅 沈 曾 彭 吕 苏 卢 蒋 蔡 贾 丁
魏 薛 叶 阎 余 潘 杜 戴 夏 钟 汪 田 任 姜 范 方 石 姚 谭 廖 邹 熊 金 陆 郝 孔 白 崔 康 毛 邱 秦 江 史 顾 侯 邵 孟 龙 万 雷 钱 汤 尹 黎 武 乔 贺 赖 龚 文
庞 樊 兰 殷 施 陶 洪 翟 安 颜 倪 严 牛 温 芦 季 俞 章 鲁 葛 伍 韦 申 尤 毕 聂 丛 焦 向 柳 邢 岳 齐 梅 莫 庄 辛 祝 左 涂 谷 祁 舒 耿 牟 卜 詹 关 苗 凌 费 纪 靳 盛 童 欧 甄 曲 成 游 阳 裴 席 卫 屈 鲍 覃 霍 翁 甘 景 薄 包 司 柏 宁 柯 阮 桂 闵 欧阳 司马 上官 诸葛 东方 夏侯 皇甫 尉迟 公孙 慕容 令狐 司徒`)
	})
)

// splitVerbs stand before names and are no part of them.
const splitVerbs = `叫 建于 建成 亲自 共同 联合 正式 迅速 同年 位于 来到 前往 参观 成立 建立 创办 创立 加入 毕业于 就读于 住在 离开 访问 组织 来自 属于 负责 担任 称为 名为 叫做 名叫 出任
出生于 获得 发布 推出 宣布 提供 支持 采用 利用 包含 存储 管理 运行 安装 下载 配置 设置 修改 创建 删除 执行 返回 调用 加载 选择 检查 确保 实现 介绍 说明 描述 发现 记录 记载 写道 指出 主持 设计 修建 建造 发明`
