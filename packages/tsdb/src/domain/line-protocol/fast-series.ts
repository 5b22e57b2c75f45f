import { MAX_TEXT_BYTES, type SeriesText } from './line-refused.js';

/** More tags go to the careful parser, which looks for repeated keys in a set. */
const MAX_TAGS = 64;

/**
 * Takes plain series texts apart: no escapes, nothing wrong. Series of a table mostly have the same keys in the same
 * order, so the keys of the one before are tried first and their array is shared.
 */
export class FastSeries {
  #keys: readonly string[] = [];
  /** Each key as it stands in a text: `,key=`. */
  #spelledKeys: readonly string[] = [];

  /**
   * @param text without unescaped blanks.
   * @returns `undefined` when the careful parser must have a look.
   */
  read(text: string): SeriesText | undefined {
    if (text.length > MAX_TEXT_BYTES / 4 || text.includes('\\') || text.includes('\0'))
      return undefined;
    const tagsFrom = endOfPart(text, 0);
    if (tagsFrom === 0) return undefined;
    const table = text.slice(0, tagsFrom);
    let tagValues = this.#valuesOf(text, tagsFrom);
    if (tagValues === undefined && this.#learnKeys(text, tagsFrom)) {
      tagValues = this.#valuesOf(text, tagsFrom);
    }
    return tagValues && { table, tagKeys: this.#keys, tagValues };
  }

  #valuesOf(text: string, tagsFrom: number): string[] | undefined {
    const values: string[] = [];
    let at = tagsFrom;
    for (const key of this.#spelledKeys) {
      if (!text.startsWith(key, at)) return undefined;
      const from = at + key.length;
      at = endOfPart(text, from);
      if (at === from) return undefined;
      values.push(text.slice(from, at));
    }
    return at === text.length ? values : undefined;
  }

  /** False when the tags are not plain pairs with distinct keys. */
  #learnKeys(text: string, tagsFrom: number): boolean {
    const keys: string[] = [];
    for (let at = tagsFrom; at < text.length; ) {
      const equals = text.indexOf('=', at);
      const key = text.slice(at + 1, equals);
      if (equals < 0 || key === '' || keys.length === MAX_TAGS || keys.includes(key)) return false;
      keys.push(key);
      at = endOfPart(text, equals + 1);
    }
    this.#keys = keys;
    this.#spelledKeys = keys.map((key) => `,${key}=`);
    return true;
  }
}

function endOfPart(text: string, from: number): number {
  const comma = text.indexOf(',', from);
  return comma < 0 ? text.length : comma;
}
