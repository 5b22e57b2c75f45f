import type { Kind } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import type { DataSet } from '../data-set.js';
import type { RowGroup } from '../kind-table.js';
import { KIND_SPECS } from '../kinds/index.js';
import { parseRow } from '../record-rows.js';
import type { Row } from '../row.js';
import { Slices } from '../slices.js';
import { NameTexts } from './name-texts.js';
import { fieldTexts } from './text-index.js';

export interface TextScope {
  readonly set: DataSet;
  readonly kind: Kind;
  readonly language: string;
}

/**
 * Texts of rows in the order of their group, made when first asked for and kept with the group: versions that share
 * the group share them.
 */
const namesOfGroups = new WeakMap<RowGroup, Map<string, NameTexts>>();
const wholesOfGroups = new WeakMap<RowGroup, Map<string, readonly string[]>>();

/** Calls `visit` with what `search` looks at of every row, normalised, in stored order; gives way between groups. */
export async function visitNames(
  scope: TextScope,
  visit: (text: string, position: number) => void,
): Promise<void> {
  await visitGroups(scope, (group, first) => {
    const names = namesOf(group, scope);
    for (let index = 0; index < names.count; index++) visit(names.at(index), first + index);
  });
}

/** Calls `see` for every row in whose names `part` is. */
export async function findInNames(
  scope: TextScope,
  part: string,
  see: (position: number) => void,
): Promise<void> {
  await visitGroups(scope, (group, first) =>
    namesOf(group, scope).find(part, (index) => see(first + index)),
  );
}

/** As `visitNames`, with every text of the record. */
export async function visitWholeTexts(
  scope: TextScope,
  visit: (text: string, position: number) => void,
): Promise<void> {
  await visitGroups(scope, (group, first) => {
    for (const [index, text] of wholesOf(group, scope).entries()) visit(text, first + index);
  });
}

async function visitGroups(
  { set, kind }: TextScope,
  visit: (group: RowGroup, firstPosition: number) => void,
): Promise<void> {
  const slices = new Slices();
  let first = 0;
  for (const group of set.tables[kind].groups) {
    visit(group, first);
    first += group.rows.length;
    const pause = slices.check();
    if (pause !== undefined) await pause;
  }
}

function namesOf(group: RowGroup, scope: TextScope): NameTexts {
  return keptFor(namesOfGroups, group, scope.language, () => {
    return new NameTexts(group.rows.map((row) => namesOfRow(row, scope)));
  });
}

function wholesOf(group: RowGroup, scope: TextScope): readonly string[] {
  return keptFor(wholesOfGroups, group, scope.language, () => {
    return group.rows.map((row) => wholeOfRow(row, scope));
  });
}

function keptFor<T>(
  groups: WeakMap<RowGroup, Map<string, T>>,
  group: RowGroup,
  language: string,
  make: () => T,
): T {
  const known = groups.get(group) ?? new Map<string, T>();
  groups.set(group, known);
  const made = known.get(language) ?? make();
  known.set(language, made);
  return made;
}

function wholeOfRow(row: Row, { set, kind, language }: TextScope): string {
  return fieldTexts(kind, row, language, language === set.about.defaultLanguage).join('\n');
}

/** The chosen language first: suggestions look at the first line. The default one is looked at as well. */
function namesOfRow(row: Row, { set, kind, language }: TextScope): string {
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
