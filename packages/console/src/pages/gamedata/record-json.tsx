import { useId } from 'react';

/** The complete record as JSON. */
export function RecordJson(props: {
  readonly text: string;
  readonly isValid: boolean;
  readonly onChange: (text: string) => void;
}) {
  const { text, isValid, onChange } = props;
  const id = useId();
  return (
    <div className="field record-json">
      <label htmlFor={id}>Record (JSON)</label>
      <textarea
        id={id}
        className="input mono"
        spellCheck={false}
        value={text}
        aria-invalid={!isValid}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      <span id={`${id}-hint`} className={isValid ? 'hint' : 'field-error'} role="status">
        {isValid
          ? 'Members that the server computes from other records are ignored when you save.'
          : 'Invalid JSON; enter an object.'}
      </span>
    </div>
  );
}
