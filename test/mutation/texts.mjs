/**
 * Stryker does not mutate texts for people. Which of them a test compares is chance, and `npm run
 * docs:messages` compares each with the documentation: the calls are those of tools/check-messages.mjs.
 * Conditions that choose between texts are mutated.
 */
const TEXTS = [
  { call: /(?:Error|Exception)$/, isNew: true, argument: 0 },
  { call: /^super$/, argument: 0 },
  { call: /^invalidOption$/, argument: 1 },
  { call: /^findings\.push$/, argument: 0 },
  { call: /^(?:this\.#write|this\.#logger\.error|logger\.warn)$/, argument: 0 },
];

export const texts = {
  shouldIgnore(path) {
    if (!path.isStringLiteral() && !path.isTemplateLiteral()) return undefined;
    let value = path;
    while (value.parentPath?.isConditionalExpression() && value.key !== 'test') value = value.parentPath;
    const call = value.parentPath;
    if (value.listKey !== 'arguments' || !(call?.isNewExpression() || call?.isCallExpression()))
      return undefined;
    const name = call.get('callee').toString();
    const isText = TEXTS.some(
      (text) =>
        text.call.test(name) && Boolean(text.isNew) === call.isNewExpression() && text.argument === value.key,
    );
    return isText ? 'npm run docs:messages compares this text with the documentation' : undefined;
  },
};
