package lexical

import (
	"strings"
	"sync"
)

// The lists are short and written for this package: closed classes (function words) as completely as is
// useful, open classes only as far as they keep plain words from being taken for names.

// Rank tells how much a word says about a text that holds it.
type Rank uint8

// The ranks of words.
const (
	Content Rank = iota // may be what the text is about
	Common              // a word of everyday prose: verbs of doing and saying, measures, qualities
	Stop                // a function word
)

// WordRank returns the rank of a word in normal form (see Normal).
func WordRank(normal string) Rank { return ranks()[normal] }

// ranks holds the words that are not Content.
var ranks = sync.OnceValue(func() map[string]Rank {
	m := make(map[string]Rank, 8000)
	for _, w := range strings.Fields(commonEnglish) {
		for _, inflected := range [...]string{w, w + "s", w + "d", w + "ed", w + "ing", strings.TrimSuffix(w, "e") + "ing", strings.TrimSuffix(w, "y") + "ies"} {
			m[inflected] = Common
		}
	}
	for _, w := range strings.Fields(commonChinese) {
		m[w] = Common
	}
	for _, w := range strings.Fields(stopEuropean) {
		if w = Normal(w); m[w] == Content { // met and men stay English
			m[w] = Stop
		}
	}
	for _, list := range []string{stopEnglish, stopRussian, stopChinese} {
		for _, w := range strings.Fields(list) {
			m[Normal(w)] = Stop
		}
	}
	return m
})

var abbreviations = sync.OnceValue(func() map[string]struct{} { return set(abbreviationList) })

// set makes a set of the words of a list.
func set(list string) map[string]struct{} {
	words := strings.Fields(list)
	m := make(map[string]struct{}, len(words))
	for _, w := range words {
		m[w] = struct{}{}
	}
	return m
}

const abbreviationList = `mr mrs ms dr prof st sr jr rev hon gen col capt lt sgt gov sen rep messrs mme mlle vs etc e.g i.e cf al
fig figs eq no nos vol pp p ch sec inc ltd co corp bros dept est approx ca jan feb mar apr jun jul aug sep sept oct nov dec
mt ft ave blvd rd bzw ggf usw u.a z.b d.h nr art u.s u.k a.m p.m`

const stopEnglish = `a about above across after again against ago all almost along already also although always am among amongst an and
another any anybody anyone anything anyway anywhere are aren't around as at away back be became because become becomes been before
behind being below beneath beside besides between beyond both but by can can't cannot could couldn't did didn't do does doesn't doing
don't done down during each either else elsewhere enough even ever every everybody everyone everything everywhere except few for forth
from further furthermore get gets getting given got had hadn't has hasn't have haven't having he he'd he'll he's hence her here here's
hers herself him himself his how how's however i i'd i'll i'm i've if in indeed inside instead into is isn't it it'd it'll it's its
itself just least less lest let let's like likewise many may maybe me meanwhile might mine more moreover most mostly much must mustn't
my myself namely near neither never nevertheless no nobody none nonetheless nor not nothing notwithstanding now nowhere of off often on
once one ones only onto or other others otherwise ought our ours ourselves out outside over own per perhaps please quite rather really
same several shall shan't she she'd she'll she's should shouldn't since so some somebody somehow someone something sometimes somewhere
still such than that that's the thee their theirs them themselves then thence there there's thereby therefore therein thereof these
they they'd they'll they're they've this those thou though through throughout thus thy till to together too toward towards under
unless unlike until unto up upon us very via was wasn't we we'd we'll we're we've well were weren't what what's whatever when whence
whenever where where's whereas whereby wherein whereupon wherever whether which whichever while whilst whither who who's whoever whole
whom whose why will with within without won't would wouldn't yet you you'd you'll you're you've your yours yourself yourselves
mr mrs ms gb mb kb tb kg km cm mm yes no oh ah ok okay hallo hello hurrah bah ha hey whereat whereby 'tis 'twas ain't o'er ye etc eg ie e.g i.e vs`

const stopEuropean = `der das dem den des ein eine einen einem einer eines und oder aber nicht ist sind wird werden wurde wurden hatte
haben sein ihr ihre ihren seine seiner sich auf aus bei mit nach von zu zum zur über unter gegen ohne durch wenn weil dass daß als
auch noch nur schon sehr wie wer wo warum ich du wir sie er es
le la les un une du de et ou mais ne pas est sont été était être avoir ont avait dans sur sous par avec ce cet cette ces il elle ils
elles nous vous je tu leur leurs qui que quoi dont où au aux très plus
el los las una unos unas del y pero es está están fue ser haber ha han con sin sobre entre esto esta este estos estas ese esa su sus
lo se muy más como quien donde cuando porque
il lo gli uno dei delle della dello degli nel nella sul sulla che chi dove quando perché non è sono era stato essere anche molto più
o os uma umas um do da dos das em no na nos nas ao à não foi são ter também muito mais onde quem
het een van en niet is zijn werd worden met voor naar bij uit ook maar zij wij hij
och att det som på är av för med till från inte jag om ett
không là của và các những một trong cho được với có này đã khi từ ở`

const stopRussian = `и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня
еще нет о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя ничего ей
может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж тогда кто этот того потому
этого какой совсем ним здесь этом один почти мой тем чтобы нее сейчас были куда зачем всех можно при об другой хоть после над больше
тот через эти нас про них какая много разве эту моя свою этой перед иногда лучше чуть том нельзя такой им более всегда конечно всю между`

// stopChinese are the words that join, point and qualify. They carry nothing in a term, and a term neither
// starts nor ends with one.
const stopChinese = `我们 你们 他们 她们 它们 自己 大家 这个 那个 这些 那些 这里 那里 这样 那样 这种 那种 什么 怎么 怎样 如何 为何 为什么 哪里
哪些 哪个 某些 好些 多少 几个 一个 一些 一种 一样 一下 一直 一起 一定 一般 没有 不是 不能 不会 不要 不同 不过 不仅 不但 但是 可是 因为 所以 如果 虽然
而且 或者 以及 并且 于是 然后 然而 因此 由于 关于 对于 根据 按照 通过 经过 为了 除了 之后 之前 以后 以前 以来 之间 之中 其中 其他 其它 另外 此外
同时 有时 当时 现在 已经 正在 曾经 将要 即将 仍然 还是 只是 就是 也是 都是 而是 可以 可能 能够 应该 应当 必须 需要 愿意 使用 进行 得到 成为
作为 认为 表示 知道 看到 听到 觉得 开始 结束 非常 十分 特别 更加 比较 最后 最终 首先 其次 每个 每天 每年 所有 任何 全部 部分 许多 很多 有些
的话 时候 之一 等等 例如 比如 包括 之外 以上 以下 左右 上面 下面 里面 外面 前面 后面 起来 出来 下来 过来 下去 上去 请问 有关 与其 并不 是否 从而
以便 甚至 尤其 至于 何时 何处 谁 的 了 在 是 和 与 及 或 也 都 就 而 但 被 把 将 从 到 对 向 为 以 于 之 其 该 此 这 那 哪 吗 呢 吧 啊 着 过 又 还
很 更 最 再 才 只 并 则 却 若 虽 因 由 让 使 给 所 每 各 某 我 你 他 她 它 您 们 个 不 没 有 无 说 要 会 能 可`

// commonChinese are words of everyday prose.
const commonChinese = `人们 人类 男人 女人 孩子 妈妈 爸爸 朋友 世界 国家 社会 生活 工作 时间 地方 问题 情况 方式 方法 方面 过程 结果 作用 影响 发展 变化 关系 条件
原因 目的 意义 水平 能力 机会 经验 活动 行为 任务 要求 需求 范围 程度 状态 情形 内容 部分 整体 基础 重要 主要 不同 相同 具体 全球 全国 产品 业务 系列 研究 处理
默认 整合 消费 创业 高端 模式 类型 数量 大小 名称 名字 东西 事情 故事 声音 样子 办法 意思 道理 消息 信息 开头 结尾 早上 晚上 今天 明天 昨天 年代 世纪 时期 阶段 重新`

const commonEnglish = `able accept accord account act action add addition admit advance advice afraid after age agree agreement ah aha alas
alike alive allow alone aloud alright altogether amen amount anger angry animal answer anxious apart appear appearance apply approach
area argue arise arm arrange arrive article ask asleep assume attempt attend attention author available avoid awake aware awful baby bad
bag ball bar base basic bear beat beautiful beauty bed beg begin beginning behave behaviour belief believe belong bend benefit best better big
bird bit bite black bless block blood blow blue board boat body bold bone book born borrow bottle bottom box boy brain branch brave bread
break breakfast breath breathe bridge brief bright bring broad broken brother brown brush build building burn burst business busy butter
button buy bye calculate call calm capable capital car card care careful carefully carry case cat catch cause caution center central century
certain certainly chain chair chance change chapter character charge cheap check cheer chief child children choice choose church circle
city class clean clear clearly clever click climb clock close cloth clothes cloud club coal coat code coffee coin cold collect colour color come
comfort command comment common company compare comparison compete complete completely complex concern conclude condition conduct configure
connect connection consider consist contain content contents continue contrary control cook cool copy corner correct cost count country
couple courage course court cover create creature cross crowd cry cup current currently customer cut daily damage dance danger dangerous
dark data date daughter day days dead deal dear death decide decision deep deeply default define definition degree delay delight deliver demand depend
describe description desert deserve design desire desk destroy detail determine develop development devil die difference different
difficult difficulty dinner direct direction dirty disappear discover discuss disease dish distance divide doctor document dog door
double doubt draw dream dress drink drive drop dry due dust duty eager ear early earn earth ease easily east easy eat edge education effect
effort egg eight either elect elegant eleven empty enable encourage end enemy engine enjoy enormous ensure enter entire entirely equal
equally error escape especially essential establish evening event eventually evidence evil exact exactly examine example excellent
exceedingly exchange excite excuse exercise exist expect expensive experience explain express expression extend extra extremely eye eyes face
fact fail failure fair faith fall false family famous far farm fashion fast fat father favour favorite fear feature feed feel feeling feet
fellow female fetch field fierce fifteen fifth fifty fight figure file fill film final finally financial find fine finger finish fire firm
first fish fit five fix flag flat float floor flow flower fly fold follow following food fool foot force foreign forget forgive form former
formerly fortunately fortune forty forward found four fourth frame free freedom freeze frequent frequently fresh friend friendly frighten
front fruit full fully fun function funny furniture future gain game garden gas gate gather general generally generate gentle gentleman
gentlemen gift girl give glad glass glory go god goes going gold gone good goodness govern grand grant grass grave gray great greatly green
greet grey ground group grow growth guard guess guest guide gun ha habit hair half hall hallo hand handle hang happen happily happy hard
hardly harm haste hat hate head health hear heart heat heaven heavy height hello help hey hi hide high highly hill history hit ho hold
hole holy home honest honour hope horrible horse hospital host hot hour hours house huge human humble hundred hunger hungry hunt hurry hurt
husband hush idea identify ignore ill image imagine immediate immediately imply important impossible improve include including increase
increasingly independent indicate individual industry inform information initially input inquire insist install intend interest
interesting introduce introduction invent invite involve iron island issue item job join joke journey joy judge jump justice keep key kick
kill kind king kiss kitchen knee knife knock know knowledge lack lady lake lamp land language large largely last late lately later laugh
laughter launch law lay lead leaf learn leave left leg legal length lesson letter level lie life lift light likely limit line lion lip list listen
literally little live load local locate long longer look loose lord lose loss lot loud love lovely low luck lucky machine main mainly
maintain major make male man manage manner map mark market marry mass master match material matter mean meaning means measure meat
medium meet meeting member memory men mention mercy mere merely merry message metal method middle midnight mild mile milk million mind minute minutes
mirror miss missing mistake mix modern moment money month months moon moral morning mother motion mountain mouth move movement mr mrs music mystery
nail name names narrow nation natural naturally nature nay near nearly neat necessary neck need neighbour neighbor nephew net new newly
news next nice niece night nine noble nod noise nonsense normal normally north nose note notice number numbers object obtain obvious obviously
occasion occasionally ocean odd offer office officer officially oh oil old older open operate opinion option options order ordinary original
originally output overall owe owner page pain paint pair paper pardon parent park part particular particularly partly party pass passage past path patience
pause pay peace pen people perceive perfect perfectly perform period permit person phrase physical pick picture piece place plain plan plant
plate play pleasant pleasure plenty poem point police politely poor popular position possess possible possibly pound pour power practical
practice pray prefer prepare prerequisite presence present presently president press pretty prevent previous previously price pride primarily
print prison private probably problem problems process produce product production program progress project promise proper property proud prove
provide public pull punish pure purpose push put quality quarter queen question questions quick quickly quiet quietly quit radio railway rain raise
range rank rapidly rare rate reach read reader ready real realise realize reason receive recent recently recommend record red reduce refer regard
region regularly relate relation release remain remark remarkably remember remind remove repeat replace reply report represent request require
requirement requirements rescue respect respond response rest result results return review reward rich ride right ring rise river road rob rock role roll roof room root
rope rough round row rule run rush sad safe safety said sail sale salt sample sand save saw say saying says scale scarcely scene school science
scold score sea search season seat second secret section see seek seem seen seize seldom select self sell send sense sentence separate series
serious seriously servant serve service set setting settle setup seven severe shade shadow shake shame shape share sharp sheet shine ship
shirt shock shoe shoot shop shore short should shoulder shout show shut sick side sight sign silence silent silly silver similar similarly
simple simply sing single sir sister sit site situation six size skill skin sky sleep slight slightly slip slow slowly small smell smile smoke
smooth snow social society soft soldier solid solution solve son song soon sorrow sorry sort soul sound soup source south space speak
special specific specifically speech speed spell spend spirits spite split spoil spoon sport spot spread spring square stage stair stand standard star start
starting state statement station stay steady steal steam steel step steps stick stiff stomach stone stop store storm story straight strange
stranger stream street strength stretch strictly strike string strong structure struggle study stupid style subject submit succeed success
sudden suddenly suffer sugar suggest suit sum summary summer sun supper supply support suppose sure surely surface surprise surprisingly surround sweet swim
swing system table tail take tale talk tall task taste tax tea teach teacher team tear tell temper ten tend term terrible test text thank thanks theory
thick thin thing things think third thirsty thirty thousand threat three throat throw tie tight time times tiny tip tired title today toe tomorrow
tone tongue tonight tool top topic total totally touch tough tour town track trade train translate travel treat tree tremble trial trick
trip trouble true truly trust truth try turn twelve twenty twice two type typical typically ugly uncle understand undoubtedly unfortunately union unit unite
university unknown unusual update upper upstairs upward urge usage use used useful user usual usually valley valuable value variety various vast verily version
victim view village violent visible vision visit vital voice volume vote wages wait waiter wake walk wall wander want war warm warn warning wash waste
watch water wave way weak wealth wear weather web week weeks weight welcome west wet wheel white wicked wide wife wild win wind window wine wing
winter wise wish wits woman women wonder wonderful wood word words work works world worry worse worst worth worthy wound wrap write wrong yard yea year years yellow yes
yesterday young youth zero january february march april june july august september october november december monday tuesday wednesday
thursday friday saturday sunday hurrah bah humbug hurray ooh ugh wow ok okay hm hmm hem ay aye eh er nope yeah yep amid aside overhead afterwards
formed taken made went came gave took told asked cried thought felt kept left seen stood sat ran began held brought heard meant met paid sent
spent lost built fell grew knew drew wrote written spoken shown known called named using based being having making taking giving coming going`
