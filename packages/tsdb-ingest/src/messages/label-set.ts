import { isUtf8 } from 'node:buffer';
import {
  columnLimitMessage,
  MAX_TEXT_BYTES,
  tagLimitMessage,
} from '@plinth/tsdb-model/database/limits.js';
import { type NewTags, TagKeySet } from '../new-tags.js';
import { LineRefused } from '../slow-path/line-refused.js';
import type { LineLimits } from '../slow-path/parse-line.js';
import {
  LABEL_FIELD_BYTE,
  MAX_LABELS_BYTES,
  NAME_FIELD_BYTE,
  type SeriesKey,
  VALUE_FIELD_BYTE,
} from './label-bytes.js';
import type { LabelRules } from './label-rules.js';
import { MessageInvalid, ProtoCursor } from './proto-cursor.js';

const MAX_SHOWN_LENGTH = 1024;

/**
 * Starts a key with OpenTelemetry attributes. It is a label without name and value, which
 * Prometheus keys do not contain.
 */
export const OTLP_MARK: readonly number[] = [LABEL_FIELD_BYTE, 0];

/**
 * The labels of a series: the metric name is the table, the other labels are tags. A label with an
 * empty value is the same as no label. Reads a series key: `Label` messages as in `TimeSeries`.
 */
export class LabelSet implements NewTags {
  table = '';
  keySet = new TagKeySet([]);
  bytes: Uint8Array = new Uint8Array(0);
  readonly valueStarts: number[] = [];
  readonly valueEnds: number[] = [];
  readonly #limits: LineLimits;
  readonly #rules: LabelRules;

  constructor(limits: LineLimits, rules: LabelRules) {
    this.#limits = limits;
    this.#rules = rules;
  }

  /** Throws `LineRefused` for labels that are not valid, and `MessageInvalid`. */
  read({ bytes, start, end }: SeriesKey): void {
    const { noun, metric, noMetric, tagOf, isLastStored } = this.#rules;
    if (end - start > MAX_LABELS_BYTES)
      throw new LineRefused(`the ${noun}s have more than ${MAX_LABELS_BYTES} bytes`);
    this.table = '';
    this.bytes = bytes;
    const places = new Map<string, number>();
    for (const label of labelsIn(bytes, start, end)) {
      const name = label.cursor.text(label.nameStart, label.nameEnd);
      const { valueStart, valueEnd } = label;
      if (!isUtf8(bytes.subarray(label.nameStart, label.nameEnd)))
        throw new LineRefused(`one of the ${noun} names is not valid UTF-8`);
      if (!isUtf8(bytes.subarray(valueStart, valueEnd)))
        throw new LineRefused(() =>
          name === ''
            ? 'the metric name is not valid UTF-8'
            : `the value of ${noun} "${name}" is not valid UTF-8`,
        );
      if (name === '' && metric !== '') throw new LineRefused(`a ${noun} has no name`);
      if (valueStart === valueEnd) continue;
      if (name === metric) {
        if (this.table !== '') throw repeated(noun, name);
        this.table = label.cursor.text(valueStart, valueEnd);
        continue;
      }
      const key = tagOf(name);
      const before = places.get(key);
      if (before !== undefined && !isLastStored) throw repeated(noun, name);
      const place = before ?? places.size;
      this.valueStarts[place] = valueStart;
      this.valueEnds[place] = valueEnd;
      places.set(key, place);
      this.#refuseTooMany(places.size);
    }
    const keys = [...places.keys()];
    if (this.table === '') throw new LineRefused(noMetric);
    if (!hasKeys(this.keySet, keys)) this.keySet = new TagKeySet(keys);
  }

  #refuseTooMany(count: number): void {
    const { columnCount, tagCount } = this.#limits;
    if (count + 1 > columnCount)
      throw new LineRefused(columnLimitMessage(columnCount), { reason: 'limit' });
    if (count > tagCount) throw new LineRefused(tagLimitMessage(tagCount), { reason: 'limit' });
  }
}

/** Returns the series in PromQL notation, for errors. */
export function shownSeries(
  { bytes, start, end }: Pick<SeriesKey, 'bytes' | 'start' | 'end'>,
  rules: LabelRules,
): string {
  let metric = '';
  let shown = '';
  const shownEnd = Math.min(end, start + MAX_LABELS_BYTES);
  try {
    for (const label of labelsIn(bytes, start, shownEnd)) {
      const isMetricSize = label.nameEnd - label.nameStart === rules.metric.length;
      if (shown.length > MAX_SHOWN_LENGTH && !isMetricSize) continue;
      const name = label.cursor.text(label.nameStart, label.nameEnd);
      // `OTLP_MARK` has neither name nor value.
      if (name === '' && label.valueStart === label.valueEnd) continue;
      const value = label.cursor.text(label.valueStart, label.valueEnd);
      if (name === rules.metric) metric = value;
      else shown += `${shown === '' ? '' : ', '}${name}=${JSON.stringify(value)}`;
    }
  } catch (error) {
    // Labels that are too long were cut, so the last one may be incomplete.
    if (!(error instanceof MessageInvalid)) throw error;
  }
  return `${metric}{${shown}}`.slice(0, MAX_SHOWN_LENGTH);
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
    if (cursor.tag(end) !== LABEL_FIELD_BYTE)
      throw new MessageInvalid(`expected a label at byte ${cursor.at}`);
    const labelEnd = cursor.enter(end);
    let [nameStart, nameEnd, valueStart, valueEnd] = [0, 0, 0, 0];
    while (cursor.at < labelEnd) {
      const tag = cursor.tag(labelEnd);
      if (tag !== NAME_FIELD_BYTE && tag !== VALUE_FIELD_BYTE) {
        cursor.skip(tag, labelEnd);
        continue;
      }
      const textEnd = cursor.enter(labelEnd);
      if (textEnd - cursor.at > MAX_TEXT_BYTES) throw new LineRefused('String is greater than 1MB');
      if (tag === NAME_FIELD_BYTE) [nameStart, nameEnd] = [cursor.at, textEnd];
      else [valueStart, valueEnd] = [cursor.at, textEnd];
      cursor.at = textEnd;
    }
    yield { cursor, nameStart, nameEnd, valueStart, valueEnd };
  }
}

const hasKeys = (keySet: TagKeySet, keys: readonly string[]): boolean =>
  keySet.keys.length === keys.length && keySet.keys.every((key, i) => key === keys[i]);

const repeated = (noun: string, name: string): LineRefused =>
  new LineRefused(() => `the ${noun} "${name}" is repeated`);
