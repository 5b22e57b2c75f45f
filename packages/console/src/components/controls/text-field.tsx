import { type ReactNode, useId } from 'react';

/** A text input with a label, and a hint or an error below it. */
export function TextField(props: {
  readonly label: ReactNode;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: ReactNode;
  /** An error message, shown in place of the hint. */
  readonly mistake?: string | undefined;
  readonly placeholder?: string;
  readonly maxLength?: number;
  /** Suggested values; others are accepted too. */
  readonly choices?: readonly string[];
  /** Uses a monospace font, for names and durations. */
  readonly isCode?: boolean;
  /** Hides the typed characters. */
  readonly isSecret?: boolean;
}) {
  const { label, value, onChange, hint, mistake, isCode = false, isSecret = false } = props;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={isCode ? 'input mono' : 'input'}
        type={isSecret ? 'password' : 'text'}
        autoComplete={isSecret ? 'new-password' : 'off'}
        placeholder={props.placeholder}
        maxLength={props.maxLength}
        list={props.choices && `${id}-choices`}
        aria-invalid={mistake !== undefined}
        aria-describedby={`${id}-hint`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      {props.choices && (
        <datalist id={`${id}-choices`}>
          {props.choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
      <span
        id={`${id}-hint`}
        className={mistake === undefined ? 'hint' : 'field-error'}
        role="status"
      >
        {mistake ?? hint}
      </span>
    </div>
  );
}
