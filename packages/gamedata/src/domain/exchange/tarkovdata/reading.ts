import { isObject } from '@plinth/kernel';
import { type GameDataError, gameDataError } from '../../../errors.js';
import type { Kind } from '../../../model/kinds.js';
import { ID_PATTERN } from '../../../model/schemas/base.js';
import type { ImportWarning, IncomingRecord } from '../payload.js';

export type Raw = Record<string, unknown>;
export type Files = ReadonlyMap<string, unknown>;

export const ID = new RegExp(ID_PATTERN);

/** State while the community's files are read. Files refer to records of other files through it. */
export class Reading {
  readonly files: Files;
  readonly records: IncomingRecord[] = [];
  readonly warnings: ImportWarning[] = [];
  readonly languages = new Set(['en']);
  readonly itemNames = new Map<string, string>();
  /** Ids of traders and maps by the numbers used in quests. */
  readonly traders = new Map<number, string>();
  readonly traderNames = new Map<string, string>();
  readonly maps = new Map<number, string>();
  readonly mapNames = new Map<string, string>();

  constructor(files: Files) {
    this.files = files;
  }

  warn(code: string, file: string, path: string, message: string): void {
    this.warnings.push({ code, file, path, message });
  }

  wrong(file: string, path: string, message: string): GameDataError<'validation_failed'> {
    return gameDataError('validation_failed', {
      message: `${file}: ${message}`,
      details: [{ file, path, code: 'wrong_shape', message }],
    });
  }

  add(kind: Kind, file: string, path: string, body: Raw): void {
    this.records.push({ kind, file, path, body });
  }

  /** Entries of an object; empty if the file is missing. */
  object(file: string): readonly (readonly [string, Raw])[] {
    const value = this.files.get(file);
    if (value === undefined) return [];
    if (!isObject(value)) throw this.wrong(file, '', 'expected an object');
    return Object.entries(value as Raw).map(([key, raw]) => {
      if (!isObject(raw)) throw this.wrong(file, `/${key}`, 'expected an object');
      return [key, raw as Raw];
    });
  }

  list(file: string, path: string, value: unknown): readonly Raw[] {
    if (!Array.isArray(value) || !value.every(isObject)) {
      throw this.wrong(file, path, 'expected an array of objects');
    }
    return value as Raw[];
  }

  cut(file: string, id: string, text: string, length: number): string {
    if (text.length <= length) return text;
    this.warn('too_long', file, `/${id}`, `truncated to ${length} characters`);
    return text.slice(0, length);
  }

  localName(locale: unknown, fallback: string): string {
    return isObject(locale) ? textOf(locale['en']) || fallback : fallback;
  }

  locales(locale: unknown, field: string): Record<string, Raw> {
    const found: Record<string, Raw> = {};
    for (const [language, text] of Object.entries(isObject(locale) ? locale : {})) {
      const isLanguage = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$/.test(language);
      if (language === 'en' || !isLanguage || typeof text !== 'string' || text === '') continue;
      this.languages.add(language);
      found[language] = { [field]: text };
    }
    return found;
  }
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;
export const nullableNumber = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 ? value : null;
export const isPercent = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value <= 100;

export function textsOf(texts: Raw): Raw {
  return Object.fromEntries(
    Object.entries(texts).filter(([, text]) => typeof text === 'string' && text !== ''),
  );
}

/** Returns the link if it is safe to serve, otherwise null. */
export function linkOf(value: unknown): string | null {
  const text = textOf(value);
  if (/^https:\/\/[^\s"<>\\\p{Cc}]{1,2000}$/u.test(text)) return text;
  return /^\/?[A-Za-z0-9._~-][A-Za-z0-9._~%/-]{0,2000}$/.test(text) ? text : null;
}
