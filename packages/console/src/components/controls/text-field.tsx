import { type ReactNode, useId } from 'react';

/** A line of text with its label, and a hint or what is wrong with it below. */
export function TextField(props: {
  readonly label: ReactNode;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: ReactNode;
  /** What is wrong, in the place of the hint. */
  readonly mistake?: string | undefined;
  readonly placeholder?: string;
  readonly maxLength?: number;
  /** For names and numbers that a machine reads. */
  readonly isCode?: boolean;
  /** Not to be read over a shoulder. */
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
        aria-invalid={mistake !== undefined}
        aria-describedby={`${id}-hint`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
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
