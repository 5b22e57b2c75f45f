import type { ReactNode } from 'react';
import { Dialog } from '../controls/dialog.js';

/** The pages and actions that the bar of a narrow window leaves out. */
export function MorePages(props: { readonly onClose: () => void; readonly children: ReactNode }) {
  const { onClose, children } = props;
  return (
    <Dialog title="Pages" isOpen onClose={onClose}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: closes after a click of a link inside. */}
      <div className="more-list" onClick={onClose}>
        {children}
      </div>
    </Dialog>
  );
}
