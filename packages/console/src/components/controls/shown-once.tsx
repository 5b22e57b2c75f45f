import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.js';

/** A secret with a copy button and a checkbox that confirms it was stored. */
export function ShownOnce(props: {
  readonly secret: string;
  readonly isStored: boolean;
  readonly onStored: (isStored: boolean) => void;
  /** Rendered next to the checkbox. */
  readonly children?: ReactNode;
}) {
  const { secret, isStored, onStored, children } = props;
  return (
    <>
      <div className="copy-box">
        <pre>{secret}</pre>
      </div>
      <div className="row wrap">
        <CopyButton
          text={secret}
          label="Copy"
          isSmall={false}
          showsLabel
          className="primary"
          onCopied={() => onStored(true)}
        />
        <label className="row">
          <input
            type="checkbox"
            checked={isStored}
            onChange={(event) => onStored(event.target.checked)}
          />
          I have stored it
        </label>
        {children}
      </div>
    </>
  );
}
