import type { Violation } from '../../../model/violation.js';
import { firstOf, quote, violate } from '../violate.js';
import type { FieldContext } from './field-context.js';
import type { Located } from './provided-fields.js';

/**
 * Characters allowed in both scripts: letters and digits of either width, blanks (including the
 * ideographic one) and the punctuation of Japanese addresses. Street numbers use the wide hyphen:
 * `２７－１５`.
 */
const SHARED = String.raw`0-9A-Za-z０-９Ａ-Ｚａ-ｚ 　\-－・．，（）().\/`;
const KANA = new RegExp(String.raw`[^\u30A0-\u30FF\uFF61-\uFF9F${SHARED}]`, 'u');
const KANJI = new RegExp(
  String.raw`[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}々〆ヶー${SHARED}]`,
  'u',
);

/** Kana and kanji fields may only contain characters of their script (row 76). */
export function checkScripts(context: FieldContext): Violation | undefined {
  return (
    firstOf(context.provided.kanaTexts, (text) =>
      checkText(text, { foreign: KANA, script: 'kana' }),
    ) ??
    firstOf(context.provided.kanjiTexts, (text) =>
      checkText(text, { foreign: KANJI, script: 'kanji' }),
    )
  );
}

function checkText(
  { path, value }: Located<string>,
  { foreign, script }: { foreign: RegExp; script: string },
): Violation | undefined {
  const found = foreign.exec(value)?.[0];
  if (found === undefined) return undefined;
  return violate('script_characters_invalid', {
    param: path,
    message: `${path} contains ${quote(found)}, which is not a ${script} character.`,
  });
}
