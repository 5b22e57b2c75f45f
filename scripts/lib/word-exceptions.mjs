// Exceptions for scripts/words.mjs, each with the reason.
export const EXCEPTIONS = {
  /** Files whose texts are not ours or have to stay. */
  files: [
    [/^packages\/accounts\/reference\//, 'texts of another product, as its documentation has them'],
    [/^docs\/site\//, 'sources of the documentation site, without texts'],
    [/^tests\/release\/folders\//, 'data of earlier versions'],
    [
      /^packages\/gamedata\/src\/domain\/sample\/sample-storyline\.ts$/,
      'sample data, whose bytes its seed determines',
    ],
    [/^CODE_OF_CONDUCT\.md$/, 'a text of others, unchanged'],
  ],
  /** Texts that a protocol fixes. */
  texts: [
    ['answer = excluded.answer', 'a column of a released table'],
    ['body_hash, answer from webhooks_idempotency', 'a column of a released table'],
    ['answer text not null', 'a column of a released table'],
    ['There is no built-in', 'an error message of DataFusion'],
    ['Told at', 'sample data, whose bytes its seed determines'],
  ],
};
