import { useState } from 'react';
import { Dialog } from './dialog.js';
import { ShownOnce } from './shown-once.js';

/** Shows a secret once. The dialog closes only after the secret was copied or confirmed as stored. */
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
      <p>This secret is shown only once and cannot be retrieved later.</p>
      {note !== undefined && <p>{note}</p>}
      <ShownOnce secret={secret} isStored={isStored} onStored={setIsStored}>
        <button type="button" className="button end" disabled={!isStored} onClick={onClose}>
          Close
        </button>
      </ShownOnce>
    </Dialog>
  );
}
