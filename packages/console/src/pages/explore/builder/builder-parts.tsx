import type { Table } from '@plinth/console-core/api/tsdb.js';
import type { BuilderQuery } from '@plinth/console-core/lib/query/builder/builder-query.js';
import type { Language } from '@plinth/console-core/lib/query/macros.js';
import type { ReactNode } from 'react';
import { Icon } from '../../../components/controls/icon.js';

/** The props of the parts of a query. */
export interface PartProps {
  readonly language: Language;
  readonly query: BuilderQuery;
  /** `undefined` if the schema does not contain the table. */
  readonly table: Table | undefined;
  readonly onChange: (query: BuilderQuery) => void;
}

export function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}) {
  return (
    <fieldset className="builder-part">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

/** A small list of choices. The current value is always one of them. */
export function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly textOf?: (value: string) => string;
  readonly isDisabled?: (value: string) => boolean;
  readonly onChange: (value: string) => void;
}) {
  const { label, value, options, textOf = String, isDisabled = () => false, onChange } = props;
  const all = options.includes(value) ? options : [value, ...options];
  return (
    <select
      className="input"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {all.map((each) => (
        <option key={each} value={each} disabled={isDisabled(each)}>
          {textOf(each)}
        </option>
      ))}
    </select>
  );
}

export function RemoveButton({ label, act }: { readonly label: string; readonly act: () => void }) {
  return (
    <button
      type="button"
      className="button icon small quiet"
      aria-label={label}
      // Keeps the focus of an input, which would apply its value first.
      onMouseDown={(event) => event.preventDefault()}
      onClick={act}
    >
      <Icon name="close" size={12} />
    </button>
  );
}
