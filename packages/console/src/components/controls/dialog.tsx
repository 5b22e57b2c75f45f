import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import './dialog.css';

/** A modal dialog. With `isFirm`, neither Escape nor a click outside closes it. */
export function Dialog(props: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isFirm?: boolean;
  readonly isWide?: boolean;
  /** Opens at the right edge with the height of the page. */
  readonly isDrawer?: boolean;
  readonly children: ReactNode;
}) {
  const { title, isOpen, onClose, isFirm = false, isWide = false, isDrawer = false } = props;
  return (
    <ModalOverlay
      className={`overlay ${isDrawer ? 'overlay-drawer' : ''}`}
      isOpen={isOpen}
      isDismissable={!isFirm}
      isKeyboardDismissDisabled={isFirm}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className={`modal ${isWide ? 'wide' : ''} ${isDrawer ? 'drawer' : ''}`}>
        <AriaDialog className="dialog">
          <div className="dialog-head">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            {!isFirm && (
              <button
                type="button"
                className="button icon small quiet end"
                aria-label="Close"
                onClick={onClose}
              >
                ✕
              </button>
            )}
          </div>
          {props.children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
