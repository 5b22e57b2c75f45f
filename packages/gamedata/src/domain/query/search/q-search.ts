import { assertNever } from '@plinth/kernel';
import { type GameDataError, gameDataError } from '../../../errors.js';
import type { Kind } from '../../../model/kinds.js';
import { normalText, tokensOf } from '../../../model/normal-text.js';
import { servedSchema } from '../../../model/schemas/served.js';
import type { DataSet } from '../../data/data-set.js';
import type { Presenter } from '../../data/public-record.js';
import { parseRowIn } from '../../data/record-rows.js';
import type { Row } from '../../data/row.js';
import type { TimeSlices } from '../../data/time-slices.js';
import { KIND_SPECS } from '../../kinds/index.js';
import type { Field } from '../../kinds/kind-spec.js';
import { type FindNamed, type Predicate, wordsPredicate } from '../filters.js';
import { WEIGHTS } from './group-texts.js';
import type { QueryNode } from './q-parser.js';
import { findInTexts, nameLineOf, visitNames } from './search-texts.js';
import type { TextIndex } from './text-index.js';

/** Score by row position; 0 means no match. */
export type Scores = Float32Array;

export interface SearchScope {
  readonly set: DataSet;
  /** Converts records to their public form, in the default language. */
  readonly presenter: Presenter;
  readonly kind: Kind;
  readonly index: TextIndex;
  readonly findNamed: FindNamed;
  readonly slices: TimeSlices;
}

/** Score of a match without words; any positive value counts as a match. */
const PLAIN_MATCH = 1e-6;

/** Source: gamedata, section 2.8. */
export async function evaluateQuery(node: QueryNode, scope: SearchScope): Promise<Scores> {
  switch (node.type) {
    case 'and': {
      const [first, ...rest] = node.parts;
      if (first === undefined) return new Float32Array(0);
      const scores = await evaluateQuery(first, scope);
      for (const part of rest) {
        const others = await evaluateQuery(part, scope);
        for (let row = 0; row < scores.length; row++) {
          const own = scores[row] ?? 0;
          const other = others[row] ?? 0;
          scores[row] = own === 0 || other === 0 ? 0 : own + other;
        }
      }
      return scores;
    }
    case 'or': {
      const scores = new Float32Array(scope.set.tables[scope.kind].rows.length);
      for (const part of node.parts) {
        const others = await evaluateQuery(part, scope);
        for (let row = 0; row < scores.length; row++) {
          scores[row] = (scores[row] ?? 0) + (others[row] ?? 0);
        }
      }
      return scores;
    }
    case 'not': {
      const scores = await evaluateQuery(node.part, scope);
      for (let row = 0; row < scores.length; row++) {
        scores[row] = scores[row] === 0 ? PLAIN_MATCH : 0;
      }
      return scores;
    }
    case 'field':
      if (isOfTranslatedNames(node, scope)) return await byNames(node, scope);
      return await byPredicate(await fieldPredicate(node, scope), scope);
    case 'phrase': {
      const needle = normalText(node.text);
      const scores = new Float32Array(scope.set.tables[scope.kind].rows.length);
      await findInTexts(scope, needle, (position) => {
        scores[position] = PLAIN_MATCH;
      });
      return scores;
    }
    case 'word':
      return await byWords(node.text, (token) => scope.index.withPrefix(token), scope);
    case 'fuzzy':
      return await byWords(node.text, (token) => scope.index.similarTo(token), scope);
    default:
      return assertNever(node);
  }
}

async function byPredicate(matches: (row: Row) => boolean, scope: SearchScope): Promise<Scores> {
  const { rows } = scope.set.tables[scope.kind];
  const scores = new Float32Array(rows.length);
  for (const [position, row] of rows.entries()) {
    if (matches(row)) scores[position] = PLAIN_MATCH;
    const pause = scope.slices.next();
    if (pause !== undefined) await pause;
  }
  return scores;
}

/**
 * Columns contain only the default language; translated names are in the index of their language.
 */
function isOfTranslatedNames(
  { field, operator }: FieldNode,
  { kind, index }: SearchScope,
): boolean {
  const isEquality = operator === ':' || operator === '=' || operator === '!=';
  return index.language !== undefined && isEquality && nameLineOf(kind, field) !== undefined;
}

async function byNames({ field, operator, value }: FieldNode, scope: SearchScope): Promise<Scores> {
  const { set, kind } = scope;
  const expected = normalText(value);
  const scores = new Float32Array(set.tables[kind].rows.length);
  await visitNames(
    scope,
    (name, position) => {
      const isMatch =
        operator === ':' ? name.includes(expected) : (name === expected) === (operator === '=');
      if (isMatch) scores[position] = PLAIN_MATCH;
    },
    nameLineOf(kind, field),
  );
  return scores;
}

/** A word with inner punctuation (`m4-a1`) consists of several tokens, all of which must match. */
async function byWords(
  text: string,
  tokensLike: (token: string) => ReadonlyMap<number, number>,
  scope: SearchScope,
): Promise<Scores> {
  const { index, set, kind, slices } = scope;
  const groups = await index.textsOf(set);
  const rowCount = set.tables[kind].rows.length;
  const tokens = tokensOf(normalText(text));
  let scores: Scores | undefined;
  for (const token of tokens) {
    const found = [...tokensLike(token)].sort(([a], [b]) => a - b);
    const ids = Uint32Array.from(found, ([id]) => id);
    const qualities = Float32Array.from(found, ([, quality]) => quality);
    const own = new Float32Array(rowCount);
    let firstRow = 0;
    for (const { postings, names } of groups) {
      const { entries } = postings;
      postings.find(ids, (tokenIndex, { start, end }) => {
        const quality = qualities[tokenIndex] ?? 0;
        for (let at = start; at < end; at++) {
          const entry = entries[at] ?? 0;
          const row = firstRow + Math.floor(entry / WEIGHTS);
          const score = quality * (entry % WEIGHTS);
          if (score > (own[row] ?? 0)) own[row] = score;
        }
      });
      firstRow += names.count;
      const pause = slices.check();
      if (pause !== undefined) await pause;
    }
    if (scores === undefined) scores = own;
    else {
      for (let row = 0; row < rowCount; row++) {
        const before = scores[row] ?? 0;
        const now = own[row] ?? 0;
        scores[row] = before === 0 || now === 0 ? 0 : before + now;
      }
    }
  }
  return scores ?? new Float32Array(rowCount);
}

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  dmg: ['damage'],
  pen: ['penetration'],
  cal: ['caliber'],
  lvl: ['level'],
  type: ['ammoType', 'objective', 'category'],
};

type FieldNode = Extract<QueryNode, { type: 'field' }>;

async function fieldPredicate(node: FieldNode, scope: SearchScope): Promise<Predicate> {
  const { kind, set } = scope;
  const { field: name, operator, value } = node;
  if ((name === 'has' || name === 'is') && operator === ':') return memberPredicate(node, scope);
  const { fields, filters } = KIND_SPECS[kind];
  // Columns contain only the default language.
  const isTranslated = scope.index.language !== undefined && hasText(name, kind);
  if (isTranslated) return textMemberPredicate(node, scope);
  const field = fieldNamed(name, fields) ?? own(fields, own(filters, name)?.field ?? '');
  if (field === undefined) {
    if (hasText(name, kind)) return textMemberPredicate(node, scope);
    throw invalid(node, `unknown field ${name}`);
  }
  const isOrdering = !(operator === ':' || operator === '=' || operator === '!=');
  if (field.type === 'number') return numberPredicate(node, field, set);
  if (isOrdering)
    throw invalid(node, `operator ${operator} requires a numeric field; ${name} is not numeric`);
  const equals = await equalsPredicate(node, field, scope);
  return operator === '!=' ? (row) => !equals(row) : equals;

  async function equalsPredicate(
    { operator: sign }: FieldNode,
    of: Field,
    { set: data, findNamed }: SearchScope,
  ): Promise<Predicate> {
    if (of.type === 'flag') {
      if (value !== 'true' && value !== 'false')
        throw invalid(node, `${name} must be true or false`);
      return (row) => of.get(row, data) === (value === 'true');
    }
    if (of.type === 'text' && sign === ':' && name !== 'id') {
      const needle = normalText(value);
      return (row) => normalText(String(of.get(row, data) ?? '')).includes(needle);
    }
    if (of.type === 'words') {
      const expected = normalText(value);
      return (row) => of.get(row, data).some((entry) => normalText(entry) === expected);
    }
    return await wordsPredicate(name, of, [value])(data, findNamed);
  }
}

/** Clients choose the names, so inherited properties must not match. */
function own<T>(members: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Finds a field by its name or by one of its aliases. */
function fieldNamed(name: string, fields: Readonly<Record<string, Field>>): Field | undefined {
  const known = [name, ...(own(ALIASES, name) ?? [])];
  return known.map((candidate) => own(fields, candidate)).find((field) => field !== undefined);
}

function numberPredicate(
  node: FieldNode,
  field: Extract<Field, { type: 'number' }>,
  set: DataSet,
): (row: Row) => boolean {
  const { operator, value, field: name } = node;
  if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(value)) throw invalid(node, `${name} must be a number`);
  const bound = Number(value);
  const compare = COMPARE[operator];
  return (row) => {
    const own = field.get(row, set);
    return own !== null && compare(own, bound);
  };
}

const COMPARE: Readonly<Record<FieldNode['operator'], (a: number, b: number) => boolean>> = {
  ':': (a, b) => a === b,
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};

/**
 * `has:field` checks any member of the record; `is:flag` checks boolean members, also below
 * `flags`.
 */
function memberPredicate(
  node: FieldNode,
  { kind, set, presenter }: SearchScope,
): (row: Row) => boolean {
  const { fields } = KIND_SPECS[kind];
  const name = node.value;
  const field = fieldNamed(name, fields);
  const { properties } = servedSchema(kind);
  if (node.field === 'is') {
    if (field?.type === 'flag') return (row) => field.get(row, set);
    const parent = isFlag(properties, name) ? [] : ['flags'];
    if (!isFlag(membersAt(properties, parent), name)) throw invalid(node, `unknown flag ${name}`);
    return (row) => {
      const record = presenter.present(kind, row, true);
      const place = parent.reduce<unknown>(
        (value, part) => Reflect.get(Object(value), part),
        record,
      );
      return Reflect.get(Object(place), name) === true;
    };
  }
  if (field !== undefined) return (row) => !isEmpty(field.get(row, set));
  if (!Object.hasOwn(properties, name)) throw invalid(node, `unknown field ${name}`);
  return (row) => !isEmpty(presenter.present(kind, row, true)[name]);
}

type Members = Readonly<Record<string, unknown>>;

const membersAt = (members: Members, path: readonly string[]): Members =>
  path.reduce((from, part) => Object(Reflect.get(Object(from[part]), 'properties')), members);

const isFlag = (members: Members, name: string): boolean =>
  Object.hasOwn(members, name) && Reflect.get(Object(members[name]), 'type') === 'boolean';

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

const TEXT_MEMBERS = ['description', 'details', 'fullText', 'title', 'shortName', 'fullName'];

const hasText = (name: string, kind: Kind): boolean =>
  TEXT_MEMBERS.includes(name) && kind !== 'levels';

function textMemberPredicate(node: FieldNode, { kind, index }: SearchScope): (row: Row) => boolean {
  const { operator, value, field: name } = node;
  if (operator !== ':' && operator !== '=' && operator !== '!=') {
    throw invalid(node, `operator ${operator} requires a numeric field; ${name} is not numeric`);
  }
  const needle = normalText(value);
  return (row) => {
    const record = parseRowIn(kind, row, index.language);
    const text = normalText(String(Reflect.get(record, name) ?? ''));
    if (operator === ':') return text.includes(needle);
    return (text === needle) === (operator === '=');
  };
}

function invalid({ position }: FieldNode, text: string): GameDataError<'invalid_query'> {
  const message = `q, position ${position}: ${text}`;
  return gameDataError('invalid_query', { param: 'q', position, message });
}
