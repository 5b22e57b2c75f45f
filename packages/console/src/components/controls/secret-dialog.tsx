import { useState } from 'react';
import { Dialog } from './dialog.js';
import { ShownOnce } from './shown-once.js';

/** The one time that a secret is shown: closed only when it was copied, or is said to be stored. */
export function SecretDialog(props: {
  readonly title: string;
  readonly secret: string;
  readonly note?: string;
  readonly onClose: () => void;
}) {
  const { title, secret, note, onClose } = props;
  const [isStored, setIsStored] = useState(false);
  return (
    <Dialog title={title} isOpen isFirm onClose={onClose}>
      <p>It is shown this once and cannot be read again.</p>
      {note !== undefined && <p>{note}</p>}
      <ShownOnce secret={secret} isStored={isStored} onStored={setIsStored}>
        <button type="button" className="button end" disabled={!isStored} onClick={onClose}>
          Close
        </button>
      </ShownOnce>
    </Dialog>
  );
}
