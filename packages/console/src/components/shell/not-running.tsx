import type { Place } from '@plinth/console-core/lib/places.js';
import { CopyBox } from '../controls/copy-button.js';

/** Replaces a page whose service is not enabled. */
export function NotRunning(props: { readonly place: Place; readonly services: readonly string[] }) {
  const { place, services } = props;
  const { title, service = '' } = place;
  return (
    <div className="page">
      <h1 tabIndex={-1}>{title} is not enabled</h1>
      <p className="soft">
        This server was started without the service behind this page. Restart it with this flag:
      </p>
      <CopyBox
        label="Copy command"
        text={`plinth serve --services ${[service, ...services].join(',')}`}
      />
    </div>
  );
}
