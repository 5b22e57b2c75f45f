import type { Place } from '../../lib/places.js';
import { CopyBox } from '../controls/copy-button.js';

/** In the place of a page whose service is off. */
export function NotRunning(props: { readonly place: Place; readonly services: readonly string[] }) {
  const { place, services } = props;
  const { title, service = '' } = place;
  return (
    <div className="page">
      <h1 tabIndex={-1}>{title} is not running here</h1>
      <p className="soft">This server was started without the service that has this page.</p>
      <CopyBox
        label="Copy the flag"
        text={`plinth serve --services ${[service, ...services].join(',')}`}
      />
    </div>
  );
}
