// The theme's search finds only sections that have every word of a question. People type whole questions: so words that
// say nothing are left out, and then the most frequent one, until some section has all that remain.
const SMALL = new Set(
  ("a about after all am an and any are as at be been but by can could did do does for from get had has have how i if " +
    "in into is it its just many may me most much my no not of off on or our out per should so than that the their then there " +
    "these they this to too up us was we were what when where which who why will with without would you your").split(" "),
);
const GAPS = /[\s\-_,:!=[\]()\\"`/?]+|\.(?!\d)/; // as the index divides words, and question marks
let sections = [];

function words(text) {
  return text.toLowerCase().split(GAPS).filter(Boolean);
}

function findable(question) {
  const typed = words(question);
  let left = typed.filter((word) => !SMALL.has(word));
  if (typed.length < 2 || left.length === 0) return question;
  const having = (word) => sections.filter((section) => section.includes(` ${word}`)).length;
  while (left.length > 1 && !sections.some((section) => left.every((word) => section.includes(` ${word}`)))) {
    const counts = left.map((word) => having(word) || Infinity); // a word that no section has goes first
    left = left.filter((_, place) => place !== counts.indexOf(Math.max(...counts)));
  }
  return left.join(" ");
}

const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...more) {
  if (message?.type === 0) {
    const plain = ({ title, text, path }) => words(`${title} ${path.join(" ")} ${text.replace(/<[^>]*>/g, " ")}`);
    sections = message.data.items.map((item) => ` ${plain(item).join(" ")}`);
  }
  if (message?.type === 2 && message.data?.input) {
    message = { ...message, data: { ...message.data, input: findable(message.data.input) } };
  }
  return post.call(this, message, ...more);
};
