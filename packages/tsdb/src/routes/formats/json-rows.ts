import { DictionaryVector } from '../../model/dictionary-vector.js';
import type { ColumnVector, OutputColumn, ResultChunk } from '../../model/result.js';
import { ROW_STYLE } from './cell-text.js';
import { type ColumnText, columnTexts } from './column-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';

/** `[{"host":"a"},…]`, NULL columns left out. Source: tsdb-http, "Row shape". */
export const JSON_ROWS: TextFormat = {
  contentType: 'application/json',
  open: (head) => openRows(head, { begin: '[', between: ',', after: '', end: ']' }),
};

/** The same objects, one per line. */
export const JSON_LINES: TextFormat = {
  contentType: 'application/jsonl',
  open: (head) => openRows(head, { begin: '', between: '', after: '\n', end: '' }),
};

interface Frame {
  readonly begin: string;
  readonly between: string;
  readonly after: string;
  readonly end: string;
}

function openRows({ columns }: ResultHead, frame: Frame): Encoder {
  // No value has an empty text in JSON, so that it can stand for NULL.
  const writers = columnTexts(columns, { form: 'json', style: ROW_STYLE, ofNull: '' });
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
  const members = new Members(columns, keys, writers);
  let isFirst = true;
  return {
    begin: () => frame.begin,
    chunk(chunk) {
      const parts = members.of(chunk);
      let out = '';
      for (let row = 0; row < chunk.rowCount; row++) {
        out += isFirst ? '{' : `${frame.between}{`;
        isFirst = false;
        let separator = '';
        for (const part of parts) {
          const text = part(row);
          if (text === '') continue;
          out += separator;
          out += text;
          separator = ',';
        }
        out += `}${frame.after}`;
      }
      return out;
    },
    end: () => frame.end,
  };
}

/** Text of one or more members of a row's object without braces; empty when all of them are NULL. */
type Part = (row: number) => string;

/** Makes texts of members: those of dictionary columns that go together (the tags of a series) once for each code. */
class Members {
  readonly #columns: readonly OutputColumn[];
  readonly #keys: readonly string[];
  readonly #writers: readonly ColumnText[];
  /** By the first column that goes in: texts by code, and which dictionaries they were made of. */
  readonly #joined = new Map<
    number,
    { readonly of: readonly DictionaryVector[]; readonly texts: string[] }
  >();

  constructor(
    columns: readonly OutputColumn[],
    keys: readonly string[],
    writers: readonly ColumnText[],
  ) {
    this.#columns = columns;
    this.#keys = keys;
    this.#writers = writers;
  }

  of({ columns, rowCount }: ResultChunk): readonly Part[] {
    const parts: Part[] = [];
    for (let at = 0; at < columns.length; ) {
      const vector = columns[at] as ColumnVector; // within the list
      if (vector instanceof DictionaryVector) {
        const group = [vector];
        for (let next = columns[at + 1]; next instanceof DictionaryVector; ) {
          if (next.codes !== vector.codes) break;
          group.push(next);
          next = columns[at + group.length];
        }
        parts.push(this.#dictionaryPart(at, group));
        at += group.length;
        continue;
      }
      parts.push(this.#plainPart(at, vector, rowCount));
      at++;
    }
    return parts;
  }

  #plainPart(at: number, vector: ColumnVector, rowCount: number): Part {
    const key = this.#keys[at] as string;
    const { values, validity } = vector;
    if (this.#columns[at]?.type.kind === 'int' && values instanceof Float64Array) {
      if (validity === undefined) return (row) => key + values[row];
      return (row) =>
        ((validity[row >> 3] as number) & (1 << (row & 7))) === 0 ? '' : key + values[row];
    }
    const texts = this.#writers[at]?.(vector, rowCount) ?? [];
    return (row) => {
      const text = texts[row] as string;
      return text === '' ? '' : key + text;
    };
  }

  #dictionaryPart(at: number, group: readonly DictionaryVector[]): Part {
    let joined = this.#joined.get(at);
    if (
      joined?.of.length !== group.length ||
      joined.of.some((one, i) => one.texts !== group[i]?.texts)
    ) {
      joined = { of: group, texts: [] };
      this.#joined.set(at, joined);
    }
    const { texts } = joined;
    const [{ codes }] = group as [DictionaryVector];
    return (row) => {
      const code = codes[row] as number;
      const known = texts[code];
      if (known !== undefined) return known;
      const made = group
        .flatMap(({ texts: values }, i) => {
          const value = values[code];
          return value === undefined ? [] : [`${this.#keys[at + i]}${JSON.stringify(value)}`];
        })
        .join(',');
      texts[code] = made;
      return made;
    };
  }
}
