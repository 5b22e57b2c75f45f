import type { RefObject } from 'react';
import { Popover } from 'react-aria-components';
import { type MenuEntry, MenuList } from '../controls/menu-button.js';

/** The menu of a cell or a column header. */
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
      aria-label={label}
      placement="bottom start"
      triggerRef={anchor}
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <MenuList label={label} entries={entries} autoFocus="first" onClose={onClose} />
    </Popover>
  );
}
