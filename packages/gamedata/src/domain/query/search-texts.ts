import type { Kind } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import type { DataSet } from '../data-set.js';
import type { RowGroup } from '../kind-table.js';
import { KIND_SPECS } from '../kinds/index.js';
import { parseRow } from '../record-rows.js';
import type { Row } from '../row.js';
import { Slices } from '../slices.js';
import { fieldTexts } from './text-index.js';

export interface TextScope {
  readonly set: DataSet;
  readonly kind: Kind;
  readonly language: string;
}

/** `names`: what `search` looks at. `whole`: every text of the record. */
export type TextExtent = 'names' | 'whole';

/**
 * Normalised texts of rows in the order of their group, made when first asked for and kept with the group: versions
 * that share the group share them, and looking through a hundred thousand is one loop over flat text.
 */
const textsOfGroups = new WeakMap<RowGroup, Map<string, readonly string[]>>();

/** Calls `visit` for every row in stored order; gives way between groups. */
export async function visitTexts(
  scope: TextScope,
  extent: TextExtent,
  visit: (text: string, position: number) => void,
): Promise<void> {
  const slices = new Slices();
  let position = 0;
  for (const group of scope.set.tables[scope.kind].groups) {
    for (const text of textsOf(group, scope, extent)) visit(text, position++);
    const pause = slices.check();
    if (pause !== undefined) await pause;
  }
}

function textsOf(group: RowGroup, scope: TextScope, extent: TextExtent): readonly string[] {
  let known = textsOfGroups.get(group);
  if (known === undefined) {
    known = new Map();
    textsOfGroups.set(group, known);
  }
  const key = `${scope.language}/${extent}`;
  let texts = known.get(key);
  if (texts === undefined) {
    const make = extent === 'names' ? namesOf : wholeOf;
    texts = group.rows.map((row) => make(row, scope));
    known.set(key, texts);
  }
  return texts;
}

function wholeOf(row: Row, { set, kind, language }: TextScope): string {
  return fieldTexts(kind, row, language, language === set.about.defaultLanguage).join('\n');
}

/** The chosen language first: suggestions look at the first line. The default one is looked at as well. */
function namesOf(row: Row, { set, kind, language }: TextScope): string {
  const spec = KIND_SPECS[kind];
  const record = parseRow(kind, row);
  const texts = spec.searchTexts(record);
  const translated: (string | null)[] = [];
  if (language !== set.about.defaultLanguage) {
    const { locales } = record;
    const own: Readonly<Record<string, string>> = locales[language] ?? {};
    for (const [key, value] of Object.entries(own)) spec.setText(record, key, value);
    translated.push(...spec.searchTexts(record));
  }
  return [...translated, ...texts].map((part) => normalText(part ?? '')).join('\n');
}
