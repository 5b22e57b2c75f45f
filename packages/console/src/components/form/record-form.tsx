import type { Fault } from '@plinth/console-core/lib/form/fault.js';
import {
  fieldLabel,
  isMultiLine,
  pointerOf,
  type RecordField,
  readText,
  recordFields,
  textOf,
  type Values,
  valueAt,
  withValue,
} from '@plinth/console-core/lib/form/record-fields.js';
import { useId, useState } from 'react';
import { TextField } from '../controls/text-field.js';
import { FaultList } from './fault-list.js';
import './form.css';

const EXPECTED: Readonly<Record<string, string>> = {
  integer: 'Invalid value; enter an integer.',
  number: 'Invalid value; enter a number.',
  json: 'Invalid JSON.',
  list: 'Invalid JSON; enter values separated by commas, or a JSON array such as ["a, b"].',
  map: 'Invalid entry; enter one line per entry (name = value), or a JSON object.',
};

/** Inputs for all members of a record. Faults that the server found are shown at their inputs. */
export function RecordForm(props: {
  readonly schema: unknown;
  readonly values: Values;
  /** The published record, to mark changes. */
  readonly published: Values | undefined;
  readonly faults: readonly Fault[];
  readonly isNew: boolean;
  readonly onChange: (values: Values) => void;
}) {
  const { schema, values, published, faults, isNew, onChange } = props;
  const fields = recordFields(schema);
  const others = faults.filter((fault) => !fields.some((field) => isOf(field, fault)));
  return (
    <>
      <FaultList faults={isNew ? others.filter(({ path }) => path !== '/id') : others} />
      <form
        className="card record-form"
        aria-label="Record"
        onSubmit={(event) => event.preventDefault()}
      >
        {isNew && (
          <TextField
            label="Id"
            isCode
            value={String(values['id'] ?? '')}
            onChange={(id) => onChange({ ...values, id })}
            mistake={faults.find(({ path }) => path === '/id')?.message}
          />
        )}
        <FieldInputs {...{ fields, values, faults, onChange }} before={published} />
      </form>
    </>
  );
}

/** Whether a fault is about the field or a part of it. */
export const isOf = (field: RecordField, { path = '' }: Fault): boolean =>
  `${path}/`.startsWith(`${pointerOf(field.path)}/`);

export function FieldInputs(props: {
  readonly fields: readonly RecordField[];
  readonly values: Values;
  /** An earlier record, to mark changes, and its name. */
  readonly before: Values | undefined;
  readonly beforeName?: string;
  readonly faults: readonly Fault[];
  /** How many names of each path a heading already contains. */
  readonly labelFrom?: number;
  readonly onChange: (values: Values) => void;
}) {
  const { fields, values, before, beforeName = 'published', faults, labelFrom, onChange } = props;
  return fields.map((field) => (
    <FieldInput
      key={field.path.join('.')}
      field={field}
      label={fieldLabel(field, labelFrom)}
      value={valueAt(values, field.path)}
      before={before && valueAt(before, field.path)}
      beforeName={beforeName}
      mistake={faults.find((fault) => isOf(field, fault))?.message}
      onChange={(value) => onChange(withValue(values, field.path, value))}
    />
  ));
}

function FieldInput(props: {
  readonly field: RecordField;
  readonly label: string;
  readonly value: unknown;
  readonly before: unknown;
  readonly beforeName: string;
  readonly mistake: string | undefined;
  readonly onChange: (value: unknown) => void;
}) {
  const { field, label, value, before, beforeName, onChange } = props;
  const id = useId();
  /** What was typed, while it has the focus or is not a valid value. */
  const [typed, setTyped] = useState<string | undefined>();
  const isTypedValid = typed === undefined || readText(field, typed) !== undefined;
  const mistake = isTypedValid ? props.mistake : EXPECTED[field.kind];
  const change = (text: string): void => {
    setTyped(text);
    const read = readText(field, text, value);
    if (read !== undefined) onChange(read.value);
  };
  const shown = typed ?? textOf(field, value);
  const beforeText = textOf(field, before);
  const isChanged = before !== undefined && beforeText !== textOf(field, value);
  /** A field that had several lines stays a textarea, so that it keeps the focus. */
  const [hadLines, setHadLines] = useState(false);
  if (!hadLines && isMultiLine(shown)) setHadLines(true);
  const isBig = hadLines || ['json', 'map', 'long text'].includes(field.kind);
  const input = {
    id,
    value: shown,
    'aria-invalid': mistake !== undefined,
    'aria-describedby': `${id}-hint`,
    onBlur: () => isTypedValid && setTyped(undefined),
  };
  return (
    <div className={isBig ? 'field full' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {field.kind === 'choice' || field.kind === 'flag' ? (
        <select {...input} className="input" onChange={(event) => change(event.target.value)}>
          {(field.isNullable || field.isOptional) && <option value="">none</option>}
          {(field.kind === 'flag' ? ['true', 'false'] : field.choices).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : isBig ? (
        <textarea
          {...input}
          className="input"
          rows={Math.min(12, Math.max(2, shown.split('\n').length))}
          spellCheck={field.kind === 'long text'}
          onChange={(event) => change(event.target.value)}
        />
      ) : (
        <input
          {...input}
          className="input"
          autoComplete="off"
          inputMode={field.kind === 'integer' ? 'numeric' : undefined}
          onChange={(event) => change(event.target.value)}
        />
      )}
      <span id={`${id}-hint`} className={mistake === undefined ? 'hint' : 'field-error'}>
        {mistake ?? (isChanged ? `${beforeName}: ${cut(beforeText) || 'none'}` : hintOf(field))}
      </span>
    </div>
  );
}

const MAX_HINT_LENGTH = 120;
const cut = (text: string): string =>
  text.length > MAX_HINT_LENGTH ? `${text.slice(0, MAX_HINT_LENGTH)} …` : text;

const HINTS: Readonly<Record<string, string>> = {
  list: 'values separated by commas, or a JSON array',
  map: 'one line per entry (name = value), or a JSON object',
};
const hintOf = ({ kind }: RecordField): string => HINTS[kind] ?? '';
