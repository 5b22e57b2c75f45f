import { usesRange } from '@plinth/console-core/lib/query/macros.js';
import {
  absoluteRange,
  isMoving,
  type RangeText,
  rangeLabel,
  resolveRange,
} from '@plinth/console-core/lib/time/time-range.js';
import { useId, useRef, useState } from 'react';
import { Dialog, Popover } from 'react-aria-components';
import { copyText } from '../../components/controls/copy-button.js';
import { Icon } from '../../components/controls/icon.js';
import { toast } from '../../components/controls/toasts.js';
import { type ExploreSearch, rangeOf } from './explore-search.js';
import type { RunState } from './hooks/use-run.js';

/** Longer URLs are rejected or cut by some clients and proxies. */
const MAX_LINK_LENGTH = 4000;

/** Copies a link to the current query. For a relative time range, it also offers a link with absolute times. */
export function ShareButton(props: {
  readonly search: ExploreSearch;
  readonly state: RunState;
  /** Saves the query under a short link instead. */
  readonly onTooLong: (range: Partial<RangeText>) => void;
}) {
  const { search, state, onTooLong } = props;
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  /** The current absolute times of the relative range. */
  const [fixed, setFixed] = useState<RangeText | undefined>();
  const range = rangeOf(search);
  const copy = async (change: Partial<RangeText>): Promise<boolean> => {
    const url = new URL(location.href);
    url.searchParams.delete('tab');
    for (const [name, text] of Object.entries(change)) url.searchParams.set(name, text);
    if (url.href.length > MAX_LINK_LENGTH) {
      onTooLong(change);
      toast('This link is too long to share. Save the query to get a short link.');
      return false;
    }
    await copyText(url.href);
    return true;
  };
  const share = async () => {
    const present = usesRange(search['q'] ?? '') && isMoving(range) && presentRange(range, state);
    if (!(await copy({}))) return;
    if (present) setFixed(absoluteRange(present));
    else toast('Link copied');
  };
  const shareFixed = async () => {
    setFixed(undefined);
    if (await copy(fixed ?? {})) toast('Link with absolute times copied');
  };
  return (
    <>
      <button ref={button} type="button" className="button" onClick={() => void share()}>
        <Icon name="share" size={14} /> Share
      </button>
      <Popover
        triggerRef={button}
        isOpen={fixed !== undefined}
        onOpenChange={() => setFixed(undefined)}
        className="menu-popover"
        placement="bottom start"
      >
        <Dialog className="share-note" aria-label="Share" aria-describedby={id}>
          <p id={id}>
            Link copied. Its time range is relative (“{rangeLabel(range)}”), so it shows newer data
            when it is opened later.
          </p>
          <button type="button" className="button" onClick={() => void shareFixed()}>
            Copy with absolute times
          </button>
          {fixed && <p className="hint soft">{rangeLabel(fixed)} UTC</p>}
        </Dialog>
      </Popover>
    </>
  );
}

/** The range of the chart while it matches the address; otherwise the range resolved now. */
function presentRange(range: RangeText, { result }: RunState) {
  const { requested, range: drawn } = result?.ran ?? {};
  return requested?.from === range.from && requested.to === range.to
    ? drawn
    : resolveRange(range, Date.now());
}
