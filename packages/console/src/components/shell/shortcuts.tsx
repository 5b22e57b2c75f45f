import { PLACES } from '@plinth/console-core/lib/places.js';
import { hasLetterKeys, setLetterKeys } from '@plinth/console-core/lib/storage/letter-keys.js';
import { useState } from 'react';
import { Dialog } from '../controls/dialog.js';

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'Find a page or object by name, or an account or caller by id'],
  ['Ctrl Enter', 'Run the query'],
  ['Shift Ctrl Enter', 'Explain the query'],
  ['Ctrl .', 'Cancel the running query'],
  ['Ctrl S', 'Save the query'],
  ['Ctrl Space', 'Show completions'],
  ['Alt ← →', 'Move the time range'],
  ['/', 'Focus the search field'],
  ['j k', 'In a list: next or previous row'],
  ['[ ]', 'On an open item: previous or next item of the list'],
  ['x', 'In a list with checkboxes: select or clear the row'],
  ['r', 'Refresh the page; on an open delivery: redeliver it'],
  ['v', 'Focus the result'],
  ['Enter', 'In a result table: open the cell menu'],
  ['c', 'In a result table: copy the cell'],
  ['← →', 'In a chart: move by one point, or by ten with Shift'],
  ['+ -', 'In a chart: zoom in at the point, or zoom out'],
  ['t', 'In a chart: show as table'],
  ['Esc', 'Close the dialog or menu'],
  ...PLACES.map(({ letter, title }) => [`g ${letter}`, `Go to ${title}`] as const),
  ['?', 'Show this list'],
];

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const [isOn, setIsOn] = useState(hasLetterKeys);
  return (
    <Dialog title="Shortcuts" isOpen isWide onClose={onClose}>
      <dl className="key-list">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="row">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            setLetterKeys(event.target.checked);
            setIsOn(event.target.checked);
          }}
        />
        Enable single-key shortcuts in this browser
      </label>
    </Dialog>
  );
}
