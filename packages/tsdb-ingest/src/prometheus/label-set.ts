import { isUtf8 } from 'node:buffer';
import {
  columnLimitMessage,
  MAX_TEXT_BYTES,
  tagLimitMessage,
} from '@plinth/tsdb-model/database/limits.js';
import { type NewTags, TagShape } from '../new-tags.js';
import { LineRefused } from '../slow-path/line-refused.js';
import type { LineLimits } from '../slow-path/parse-line.js';
import { BYTES, MessageInvalid, ProtoCursor, tagOf } from './proto-cursor.js';
import { STALE_FIELD, VALUE_FIELD } from './sample-rows.js';

/** The label with the name of the metric, which is the table. */
export const METRIC_LABEL = '__name__';
/** First byte of each label in a series key: the tag of field 1 of `TimeSeries`. */
export const LABEL_TAG = tagOf(1, BYTES);
const NAME_TAG = tagOf(1, BYTES);
const VALUE_TAG = tagOf(2, BYTES);
/**
 * Labels that have the name of another column. They become tags with another name, as in `plinth
 * migrate prometheus`.
 */
const RENAMED: ReadonlyMap<string, string> = new Map(
  ['time', VALUE_FIELD, STALE_FIELD].map((name) => [name, `${name}_tag`]),
);
const LABELS: ReadonlyMap<string, string> = new Map(
  [...RENAMED].map(([label, tag]) => [tag, label]),
);

/** The tag that stores a label, and the label of a tag. */
export const tagOfLabel = (name: string): string => RENAMED.get(name) ?? name;
export const labelOfTag = (key: string): string => LABELS.get(key) ?? key;

/** Maximum size of all labels of a series, with their names. */
export const MAX_LABELS_BYTES = 65_536;
const MAX_SHOWN_LENGTH = 1024;

/**
 * The labels of a series: the metric name is the table, the other labels are tags. A label with an
 * empty value is the same as no label. Reads a series key: `Label` messages as in `TimeSeries`.
 */
export class LabelSet implements NewTags {
  table = '';
  shape = new TagShape([]);
  bytes: Uint8Array = new Uint8Array(0);
  readonly valueStarts: number[] = [];
  readonly valueEnds: number[] = [];
  readonly #limits: LineLimits;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** Throws `LineRefused` for labels that are not valid, and `MessageInvalid`. */
  read(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > MAX_LABELS_BYTES)
      throw new LineRefused(`the labels have more than ${MAX_LABELS_BYTES} bytes`);
    this.table = '';
    this.bytes = bytes;
    const keys: string[] = [];
    for (const label of labelsIn(bytes, start, end)) {
      const name = label.cursor.text(label.nameStart, label.nameEnd);
      const { valueStart, valueEnd } = label;
      if (!isUtf8(bytes.subarray(label.nameStart, label.nameEnd)))
        throw new LineRefused('a label name is not valid UTF-8');
      if (!isUtf8(bytes.subarray(valueStart, valueEnd)))
        throw new LineRefused(() => `the value of label "${name}" is not valid UTF-8`);
      if (name === '') throw new LineRefused('a label has no name');
      if (valueStart === valueEnd) continue;
      if (name === METRIC_LABEL) {
        if (this.table !== '') throw repeated(name);
        this.table = label.cursor.text(valueStart, valueEnd);
        continue;
      }
      const key = tagOfLabel(name);
      if (keys.includes(key)) throw repeated(name);
      this.valueStarts[keys.length] = valueStart;
      this.valueEnds[keys.length] = valueEnd;
      keys.push(key);
      this.#refuseTooMany(keys.length);
    }
    if (this.table === '') throw new LineRefused(`the label "${METRIC_LABEL}" is missing`);
    if (!hasKeys(this.shape, keys)) this.shape = new TagShape(keys);
  }

  #refuseTooMany(count: number): void {
    const { columnCount, tagCount } = this.#limits;
    if (count + 1 > columnCount)
      throw new LineRefused(columnLimitMessage(columnCount), { isLimit: true });
    if (count > tagCount) throw new LineRefused(tagLimitMessage(tagCount), { isLimit: true });
  }
}

/** Tag keys and values of a series key that `LabelSet` has accepted. */
export function tagsOfKey(key: Uint8Array): {
  readonly tagKeys: readonly string[];
  readonly tagValues: readonly string[];
} {
  const tagKeys: string[] = [];
  const tagValues: string[] = [];
  for (const { cursor, nameStart, nameEnd, valueStart, valueEnd } of labelsIn(key, 0, key.length)) {
    const name = cursor.text(nameStart, nameEnd);
    if (name === METRIC_LABEL || valueStart === valueEnd) continue;
    tagKeys.push(tagOfLabel(name));
    tagValues.push(cursor.text(valueStart, valueEnd));
  }
  return { tagKeys, tagValues };
}

/** The series as PromQL writes it, for errors. */
export function shownSeries(bytes: Uint8Array, start: number, end: number): string {
  let metric = '';
  const labels: string[] = [];
  const shownEnd = Math.min(end, start + MAX_LABELS_BYTES);
  try {
    for (const label of labelsIn(bytes, start, shownEnd)) {
      const name = label.cursor.text(label.nameStart, label.nameEnd);
      const value = label.cursor.text(label.valueStart, label.valueEnd);
      if (name === METRIC_LABEL) metric = value;
      else labels.push(`${name}=${JSON.stringify(value)}`);
    }
  } catch (error) {
    // The part of labels that are too long.
    if (!(error instanceof MessageInvalid)) throw error;
  }
  return `${metric}{${labels.join(', ')}}`.slice(0, MAX_SHOWN_LENGTH);
}

interface Label {
  readonly cursor: ProtoCursor;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

function* labelsIn(bytes: Uint8Array, start: number, end: number): Generator<Label> {
  const cursor = new ProtoCursor(bytes);
  cursor.at = start;
  while (cursor.at < end) {
    if (cursor.tag(end) !== LABEL_TAG)
      throw new MessageInvalid(`not a label, at byte ${cursor.at}`);
    const labelEnd = cursor.enter(end);
    let [nameStart, nameEnd, valueStart, valueEnd] = [0, 0, 0, 0];
    while (cursor.at < labelEnd) {
      const tag = cursor.tag(labelEnd);
      if (tag !== NAME_TAG && tag !== VALUE_TAG) {
        cursor.skip(tag, labelEnd);
        continue;
      }
      const textEnd = cursor.enter(labelEnd);
      if (textEnd - cursor.at > MAX_TEXT_BYTES) throw new LineRefused('String is greater than 1MB');
      if (tag === NAME_TAG) [nameStart, nameEnd] = [cursor.at, textEnd];
      else [valueStart, valueEnd] = [cursor.at, textEnd];
      cursor.at = textEnd;
    }
    yield { cursor, nameStart, nameEnd, valueStart, valueEnd };
  }
}

const hasKeys = (shape: TagShape, keys: readonly string[]): boolean =>
  shape.keys.length === keys.length && shape.keys.every((key, i) => key === keys[i]);

const repeated = (name: string): LineRefused =>
  new LineRefused(() => `the label "${name}" is repeated`);
