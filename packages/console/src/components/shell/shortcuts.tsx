import { useState } from 'react';
import { PLACES } from '../../lib/places.js';
import { hasLetterKeys, setLetterKeys } from '../../lib/storage/letter-keys.js';
import { Dialog } from '../controls/dialog.js';

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'find a page, database, table or saved query'],
  ['Ctrl Enter', 'run the query'],
  ['Shift Ctrl Enter', 'show the plan of the query'],
  ['Ctrl .', 'cancel the running query'],
  ['Ctrl S', 'save the query'],
  ['Ctrl Space', 'complete what is typed'],
  ['Alt ← →', 'move the range of time'],
  ['/', 'to the field that finds'],
  ['v', 'to the chart or the table of results'],
  ['Enter', 'in a table of results: what can be done with the cell'],
  ['c', 'in a table of results: copy the cell'],
  ['← →', 'in a chart: the values of a point; with Shift ten points further'],
  ['+ -', 'in a chart: zoom in around the point, zoom out'],
  ['t', 'in a chart: the same as a table'],
  ['Esc', 'close what is open'],
  ...PLACES.map(({ letter, title }) => [`g ${letter}`, `go to ${title}`] as const),
  ['?', 'this list'],
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
        Single letters and signs are keys, in this browser
      </label>
    </Dialog>
  );
}
