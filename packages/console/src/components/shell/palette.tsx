import type { ServerInfo } from '@plinth/console-core/api/server.js';
import { noteEntry, recentEntries } from '@plinth/console-core/lib/storage/recent-entries.js';
import { useEffect, useId, useRef, useState } from 'react';
import { Dialog } from '../controls/dialog.js';
import { type Entry, useEntries } from './palette-entries.js';

const MAX_SHOWN_COUNT = 50;
const RECENT = 'Recent';

/** The command palette: finds pages, actions and objects by name, and objects by their ids. */
export function Palette(props: { readonly info: ServerInfo; readonly onClose: () => void }) {
  const { info, onClose } = props;
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const entries = useEntries(info, text);
  const searchText = text.trim().toLowerCase();
  const found = entries.filter(
    ({ text: name, hint = '', isFound = false }) =>
      isFound || `${name} ${hint}`.toLowerCase().includes(searchText),
  );
  const groups = groupsOf(found);
  const shown = groups.flatMap(([, each]) => each).slice(0, MAX_SHOWN_COUNT);
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    if (entry.hasEffect !== true) noteEntry(entry.key);
    void entry.act();
  };
  useEffect(() => {
    list.current?.querySelector(`[data-index="${active}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <Dialog title="Find" isOpen onClose={onClose}>
      <input
        className="input"
        autoFocus
        role="combobox"
        aria-label="Find a page, action or object"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={shown[active] && `${id}-${active}`}
        placeholder="A name, an id (acct_…, evt_…, GUID) or a caller (user:1)"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            setActive((at) => Math.max(0, Math.min(shown.length - 1, at + step)));
          }
          if (event.key === 'Enter') choose(shown[active]);
        }}
      />
      <div
        ref={list}
        id={`${id}-list`}
        className="palette-list"
        role="listbox"
        aria-label="Results"
      >
        {groups.map(([kind, members]) => {
          const own = members.filter((entry) => shown.includes(entry));
          if (own.length === 0) return null;
          return (
            <ul key={kind} role="group" aria-label={kind}>
              <li className="palette-kind" role="presentation">
                {kind}
              </li>
              {own.map((entry) => (
                <PaletteOption
                  key={entry.key}
                  id={id}
                  entry={entry}
                  index={shown.indexOf(entry)}
                  active={active}
                  onChoose={choose}
                />
              ))}
            </ul>
          );
        })}
      </div>
      <p className="hint soft" role="status">
        {found.length > shown.length
          ? `${shown.length} of ${found.length}`
          : `${found.length} found`}
      </p>
    </Dialog>
  );
}

function PaletteOption(props: {
  readonly id: string;
  readonly entry: Entry;
  readonly index: number;
  readonly active: number;
  readonly onChoose: (entry: Entry) => void;
}) {
  const { id, entry, index, active, onChoose } = props;
  return (
    <li
      id={`${id}-${index}`}
      data-index={index}
      role="option"
      aria-selected={index === active}
      onClick={() => onChoose(entry)}
    >
      <span className="grow">{entry.text}</span>
      {entry.hint && <span className="hint soft">{entry.hint}</span>}
    </li>
  );
}

/** The entries by kind, those that were chosen last before all others. */
function groupsOf(entries: readonly Entry[]): readonly (readonly [string, readonly Entry[]])[] {
  const keys = recentEntries();
  const recent = keys.flatMap((key) => entries.find((entry) => entry.key === key) ?? []);
  const groups = new Map<string, Entry[]>(recent.length === 0 ? [] : [[RECENT, recent]]);
  for (const entry of entries) {
    if (keys.includes(entry.key)) continue;
    const group = groups.get(entry.kind) ?? [];
    group.push(entry);
    groups.set(entry.kind, group);
  }
  return [...groups];
}
