import type { Kind } from '../../model/kinds.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { View } from '../kinds/kind-spec.js';
import type { DataSet } from './data-set.js';
import type { ImageLink } from './image-links.js';
import { parseRow } from './record-rows.js';
import { type Row, textColumn } from './row.js';

/** `undefined` for the default language, `all` for the default language and all translations. */
export type Language = string | undefined;

/** Converts stored records to their public form in one language. */
export class Presenter implements View {
  readonly set: DataSet;
  readonly language: Language;
  readonly #names = new Map<string, string | null>();
  readonly #imageLink: ImageLink | undefined;

  /** @param imageLink if undefined, images stay as stored, as editors see them. */
  constructor(set: DataSet, language: Language, imageLink?: ImageLink) {
    this.set = set;
    this.#imageLink = imageLink;
    this.language = language === set.metadata.defaultLanguage ? undefined : language;
  }

  /** A bound function, because specs destructure the view. */
  readonly nameOf = (kind: Kind, id: string): string | null => {
    const row = this.set.row(kind, id);
    if (row === undefined) return null;
    if (this.language === undefined || this.language === 'all') return textColumn(row, 'name');
    const key = `${kind}/${id}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const { locales } = parseRow(kind, row);
    const own = locales[this.language];
    const name = own?.['name'] ?? own?.['title'] ?? textColumn(row, 'name');
    this.#names.set(key, name);
    return name;
  };

  /** @param isWhole whether to include members that lists omit. */
  present(kind: Kind, row: Row, isWhole: boolean): Record<string, unknown> {
    const record = parseRow(kind, row);
    const spec = KIND_SPECS[kind];
    const { locales } = record;
    const translation =
      this.language === undefined || this.language === 'all' ? undefined : locales[this.language];
    if (translation !== undefined) {
      for (const [key, text] of Object.entries(translation)) spec.setText(record, key, text);
    }
    const served = spec.serve(record, this);
    if (this.language === 'all') served['locales'] = locales;
    const { image } = served;
    if (typeof image === 'string' && this.#imageLink) served['image'] = this.#imageLink(image);
    if (kind === 'storyline' && !isWhole) delete served['fullText'];
    return served;
  }
}
