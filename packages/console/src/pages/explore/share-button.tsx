import { useId, useRef, useState } from 'react';
import { Dialog, Popover } from 'react-aria-components';
import { copyText } from '../../components/controls/copy-button.js';
import { Icon } from '../../components/controls/icon.js';
import { toast } from '../../components/controls/toasts.js';
import { usesRange } from '../../lib/query/macros.js';
import {
  absoluteRange,
  isMoving,
  type RangeText,
  rangeLabel,
  resolveRange,
} from '../../lib/time/time-range.js';
import { type ExploreSearch, rangeOf } from './explore-search.js';
import type { RunState } from './use-run.js';

/** Beyond this an address is not sent well. */
const MAX_LINK_LENGTH = 4000;

/** Copies the link of what is seen; where its range moves on, says so and offers the same with fixed times. */
export function ShareButton(props: {
  readonly search: ExploreSearch;
  readonly state: RunState;
  /** Keeps the query under a short link instead. */
  readonly onTooLong: (range: Partial<RangeText>) => void;
}) {
  const { search, state, onTooLong } = props;
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  /** What the moving range is at present. */
  const [fixed, setFixed] = useState<RangeText | undefined>();
  const range = rangeOf(search);
  const copy = async (change: Partial<RangeText>): Promise<boolean> => {
    const url = new URL(location.href);
    url.searchParams.delete('tab');
    for (const [name, text] of Object.entries(change)) url.searchParams.set(name, text);
    if (url.href.length > MAX_LINK_LENGTH) {
      onTooLong(change);
      toast('The link would be too long: save the query, its short link is copied.');
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
    if (await copy(fixed ?? {})) toast('Link with fixed times copied');
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
            Link copied. Its range is “{rangeLabel(range)}”: whoever opens it later sees other
            times.
          </p>
          <button type="button" className="button" onClick={() => void shareFixed()}>
            Copy with fixed times
          </button>
          {fixed && <p className="hint soft">{rangeLabel(fixed)} UTC</p>}
        </Dialog>
      </Popover>
    </>
  );
}

/** What is drawn, while that is what the address asks for. */
function presentRange(range: RangeText, { result }: RunState) {
  const { requested, range: drawn } = result?.ran ?? {};
  return requested?.from === range.from && requested.to === range.to
    ? drawn
    : resolveRange(range, Date.now());
}
