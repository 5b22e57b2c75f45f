import { type SearchParams, useSearchParams } from './use-search-params.js';

/** A text box whose text is a search parameter. */
export function SearchBox(props: {
  readonly label: string;
  readonly placeholder: string;
  readonly name?: string;
  /** Uses a monospace font, for names and ids. */
  readonly isCode?: boolean;
  /** The key `/` does not focus this box. */
  readonly isSecondary?: boolean;
  /** Parameters that each change resets, such as a page cursor. */
  readonly resets?: SearchParams;
}) {
  const { name = 'find', resets, ...others } = props;
  const [params, change] = useSearchParams();
  return (
    <FindInput
      {...others}
      value={params[name] ?? ''}
      onChange={(text) => change({ ...resets, [name]: text })}
    />
  );
}

/** A text box that the key `/` focuses. */
export function FindInput(props: {
  readonly label: string;
  readonly placeholder: string;
  readonly isCode?: boolean;
  readonly isSecondary?: boolean;
  readonly value: string;
  readonly onChange: (text: string) => void;
}) {
  const { label, placeholder, isCode = false, isSecondary = false, value, onChange } = props;
  return (
    <input
      className={isCode ? 'input mono' : 'input'}
      data-find={isSecondary ? undefined : true}
      aria-label={label}
      placeholder={isSecondary ? placeholder : `${placeholder}   /`}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

/** A checkbox whose state is a search parameter. */
export function SearchCheckbox(props: {
  readonly label: string;
  readonly name: string;
  /** The value when checked; an empty one for checkboxes that are checked by default. */
  readonly on?: string;
  readonly off?: string;
  /** Parameters that checking also sets. */
  readonly alsoOn?: SearchParams;
}) {
  const { label, name, on = '1', off = '', alsoOn } = props;
  const [params, change] = useSearchParams();
  return (
    <label className="row small">
      <input
        type="checkbox"
        checked={(params[name] ?? '') === on}
        onChange={({ target }) =>
          change(target.checked ? { ...alsoOn, [name]: on } : { [name]: off })
        }
      />
      {label}
    </label>
  );
}

/** A list of choices whose selected value is a search parameter. */
export function SearchSelect(props: {
  readonly label: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  /** The value without the parameter. */
  readonly fallback?: string;
  readonly resets?: SearchParams;
}) {
  const { label, name, options, fallback = '', resets } = props;
  const [params, change] = useSearchParams();
  return (
    <select
      className="input"
      aria-label={label}
      value={params[name] ?? fallback}
      onChange={({ target }) =>
        change({ ...resets, [name]: target.value === fallback ? '' : target.value })
      }
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}
