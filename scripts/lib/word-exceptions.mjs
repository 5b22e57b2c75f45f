// What scripts/words.mjs leaves alone, each with the reason.
export const EXCEPTIONS = {
  /** Files whose texts are not ours or have to stay. */
  files: [
    [/^packages\/accounts\/reference\//, 'texts of another product, as its documentation has them'],
    [/^docs\/site\//, 'sources of the documentation site, without texts'],
    [/^tests\/release\/folders\//, 'data of earlier versions'],
    [/^CODE_OF_CONDUCT\.md$/, 'a text of others, unchanged'],
  ],
  /** Texts that a protocol fixes. */
  texts: [],
};
