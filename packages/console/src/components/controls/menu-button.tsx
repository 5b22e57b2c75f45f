import type { ReactNode } from 'react';
import {
  Button,
  Menu,
  MenuItem,
  type MenuProps,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import './dialog.css';

export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly act: () => void;
}

export function MenuList(
  props: { readonly label: string; readonly entries: readonly MenuEntry[] } & Pick<
    MenuProps<object>,
    'autoFocus' | 'onClose'
  >,
) {
  const { label, entries, ...rest } = props;
  return (
    <Menu
      {...rest}
      className="menu"
      aria-label={label}
      onAction={(key) => entries.find(({ id }) => id === key)?.act()}
    >
      {entries.map(({ id, label: text, hint }) => (
        <MenuItem key={id} id={id} className="menu-item" textValue={text}>
          {text}
          {hint !== undefined && <span className="hint">{hint}</span>}
        </MenuItem>
      ))}
    </Menu>
  );
}

export function MenuButton(props: {
  readonly label: string;
  readonly children: ReactNode;
  readonly className?: string;
  readonly entries: readonly MenuEntry[];
}) {
  const { label, children, className = '', entries } = props;
  return (
    <MenuTrigger>
      <Button className={`button ${className}`} aria-label={label}>
        {children}
      </Button>
      <Popover className="menu-popover" placement="bottom start">
        <MenuList label={label} entries={entries} />
      </Popover>
    </MenuTrigger>
  );
}
