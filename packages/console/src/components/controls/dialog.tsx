import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import './dialog.css';

/** A window over the page. What must not be lost by a slip is closed by its own buttons alone. */
export function Dialog(props: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isFirm?: boolean;
  readonly isWide?: boolean;
  /** At the right edge, as high as the page. */
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
