import type { RefObject } from 'react';
import { Menu, MenuItem, Popover } from 'react-aria-components';
import type { MenuEntry } from '../controls/menu-button.js';
import '../controls/dialog.css';

/** What can be done with a cell, beside it. */
export function GridMenu(props: {
  readonly anchor: RefObject<HTMLElement | null>;
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly onClose: () => void;
}) {
  const { anchor, label, entries, onClose } = props;
  return (
    <Popover
      className="menu-popover"
      placement="bottom start"
      triggerRef={anchor}
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Menu
        className="menu"
        aria-label={label}
        autoFocus="first"
        onClose={onClose}
        onAction={(key) => entries.find(({ id }) => id === key)?.act()}
      >
        {entries.map(({ id, label: text, hint }) => (
          <MenuItem key={id} id={id} className="menu-item" textValue={text}>
            {text}
            {hint !== undefined && <span className="hint">{hint}</span>}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
