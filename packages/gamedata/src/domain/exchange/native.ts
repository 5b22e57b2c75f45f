import { isObject } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import { findJsonFaults } from '../../model/json-faults.js';
import { findKind, KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import type { DataSet } from '../data/data-set.js';
import { TimeSlices } from '../data/time-slices.js';
import type { JsonPieces, Piece } from './json-pieces.js';
import type { IncomingRecord, Payload } from './payload.js';

export const NATIVE_FORMAT = 'plinth-gamedata/1';
const MEMBERS: readonly string[] = ['format', 'defaultLanguage', 'languages', 'aliases', 'kinds'];
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$/;

const refuse = (path: string, message: string): never => {
  throw gameDataError('validation_failed', {
    message,
    details: [{ path, code: 'wrong_shape', message }],
  });
};

/**
 * Throws `validation_failed`, `SyntaxError` and `PiecesBroken`, also while the records are read.
 */
export function readNative(pieces: JsonPieces): Payload {
  const members = new Map<string, Piece>(pieces.members(pieces.whole()));
  const read = (name: string): unknown => {
    const piece = members.get(name);
    return piece === undefined ? undefined : pieces.parse(piece);
  };
  const format = read('format');
  if (format !== NATIVE_FORMAT) refuse('/format', `format must be "${NATIVE_FORMAT}"`);
  for (const name of members.keys()) {
    // A misspelled `kinds` would otherwise replace all records with none.
    if (!MEMBERS.includes(name))
      refuse(`/${name}`, `unknown member "${name}"; use ${MEMBERS.join(', ')}`);
  }
  const defaultLanguage = read('defaultLanguage');
  const languages = read('languages') ?? [];
  if (defaultLanguage !== undefined && !isLanguage(defaultLanguage)) {
    refuse('/defaultLanguage', 'defaultLanguage must be a language code, such as en');
  }
  if (!Array.isArray(languages) || !languages.every(isLanguage)) {
    refuse('/languages', 'languages must be a list of language codes, such as ["en"]');
  }
  // Without `languages`, the default language is the only one.
  const isAmong = !members.has('languages') || (languages as unknown[]).includes(defaultLanguage);
  if (defaultLanguage !== undefined && !isAmong) {
    refuse('/defaultLanguage', 'defaultLanguage must be listed in languages');
  }
  const kinds = members.get('kinds');
  if (kinds === undefined || !pieces.isObject(kinds))
    return refuse('/kinds', 'kinds must be an object');
  return {
    defaultLanguage: defaultLanguage as string | undefined,
    languages: languages as string[],
    aliases: readAliases(read('aliases')),
    records: readRecords(pieces, kinds),
    warnings: [],
  };
}

function* readRecords(pieces: JsonPieces, kinds: Piece): Generator<IncomingRecord> {
  for (const [name, list] of pieces.members(kinds)) {
    const kind = findKind(name);
    if (kind === undefined) return refuse(`/kinds/${name}`, `unknown kind ${name}`);
    if (!pieces.isArray(list)) return refuse(`/kinds/${name}`, `${name} must be an array`);
    let index = 0;
    for (const piece of pieces.entries(list)) {
      const body = pieces.parse(piece);
      const path = `/kinds/${name}/${index}`;
      if (!isObject(body)) return refuse(path, 'a record must be an object');
      yield { kind, body, path };
      index += 1;
    }
  }
}

/** `all` selects every language, so no language can have this name. */
const isLanguage = (value: unknown): boolean =>
  typeof value === 'string' && LANGUAGE.test(value) && value !== 'all';

function readAliases(value: unknown): Payload['aliases'] {
  if (value === undefined) return {};
  if (!isObject(value)) return refuse('/aliases', 'aliases must be an object');
  const faults = findJsonFaults({ aliases: value });
  if (faults.length > 0)
    throw gameDataError('validation_failed', {
      message: 'aliases are invalid',
      details: faults,
    });
  const aliases: Partial<Record<Kind, Record<string, string>>> = {};
  for (const [name, own] of Object.entries(value)) {
    const kind = findKind(name);
    if (kind === undefined) return refuse(`/aliases/${name}`, `unknown kind ${name}`);
    if (!isObject(own) || !Object.values(own).every((id) => typeof id === 'string'))
      return refuse(`/aliases/${name}`, `${name} must be an object that maps ids to ids`);
    aliases[kind] = own as Record<string, string>;
  }
  return aliases;
}

/** Writes the complete set in its stored form. Reading it returns the same set. */
export async function* writeNative(set: DataSet): AsyncGenerator<string> {
  const { defaultLanguage, languages, aliases } = set.metadata;
  const head = JSON.stringify({ format: NATIVE_FORMAT, defaultLanguage, languages, aliases });
  yield `${head.slice(0, -1)},"kinds":{`;
  const slices = new TimeSlices();
  for (const [index, kind] of KINDS.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(KIND_WIRE[kind].typeKey)}:[`;
    let piece = '';
    for (const [position, { text }] of set.tables[kind].rows.entries()) {
      piece += position === 0 ? text : `,${text}`;
      if (piece.length > 65_536) {
        yield piece;
        piece = '';
      }
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    yield `${piece}]`;
  }
  yield '}}\n';
}
