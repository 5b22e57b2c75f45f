import { Button, MenuTrigger, Popover } from 'react-aria-components';
import { Icon } from '../controls/icon.js';
import { type MenuEntry, MenuList } from '../controls/menu-button.js';

/** The actions of the console, at the bottom of the navigation. */
export function RailMenu({ entries }: { readonly entries: readonly MenuEntry[] }) {
  return (
    <MenuTrigger>
      <Button className="rail-link">
        <Icon name="sliders" size={16} />
        <span>Menu</span>
      </Button>
      <Popover className="menu-popover" placement="top start">
        <MenuList label="Menu" entries={entries} />
      </Popover>
    </MenuTrigger>
  );
}
