import {
  absoluteRange,
  PRESETS,
  type RangeText,
  rangeLabel,
  resolveRange,
  shiftRange,
  widenRange,
} from '@plinth/console-core/lib/time/time-range.js';
import { Fragment, useEffect, useState } from 'react';
import { Button, Dialog, DialogTrigger, Popover } from 'react-aria-components';
import { Icon } from '../controls/icon.js';
import { SearchSelect } from '../search/search-fields.js';
import '../controls/dialog.css';
import './time-picker.css';

const EXAMPLES = ['2026-11-26', '2026-11-26T08:30:00Z', 'now', 'now-1h', 'now-1d/d'];
const REFRESH = [
  ['off', 'Refresh: off'],
  ...['1s', '5s', '10s', '30s', '1m', '5m'].map((each) => [each, `every ${each}`] as const),
] as const;

/** Selects the time range of a page. Relative times stay relative. */
export function TimePicker(props: {
  readonly range: RangeText;
  readonly onChange: (range: RangeText) => void;
  /** The refresh interval without the search parameter `refresh`; absent on pages without refresh. */
  readonly defaultRefresh?: string;
}) {
  const { range, onChange, defaultRefresh } = props;
  const move = (change: typeof widenRange) => {
    const resolved = resolveRange(range, Date.now());
    if (resolved !== undefined) onChange(absoluteRange(change(resolved)));
  };
  return (
    <fieldset className="time-picker" aria-label="Time range">
      <IconButton icon="left" label="Move back" act={() => move((each) => shiftRange(each, -1))} />
      <DialogTrigger>
        <Button className="button time-picker-label">
          <Icon name="clock" size={14} />
          {rangeLabel(range)}
          <Icon name="down" size={12} />
        </Button>
        <Popover className="menu-popover" placement="bottom end">
          <Dialog className="time-picker-dialog" aria-label="Time range">
            {({ close }) => (
              <RangeForm
                range={range}
                onChoose={(chosen) => {
                  onChange(chosen);
                  close();
                }}
              />
            )}
          </Dialog>
        </Popover>
      </DialogTrigger>
      <IconButton
        icon="right"
        label="Move forward"
        act={() => move((each) => shiftRange(each, 1))}
      />
      <IconButton icon="zoomOut" label="Zoom out" act={() => move(widenRange)} />
      {defaultRefresh && (
        <SearchSelect
          label="Refresh interval"
          name="refresh"
          options={REFRESH}
          fallback={defaultRefresh}
        />
      )}
    </fieldset>
  );
}

function IconButton(props: {
  readonly icon: 'left' | 'right' | 'zoomOut';
  readonly label: string;
  readonly act: () => void;
}) {
  return (
    <button
      type="button"
      className="button icon"
      aria-label={props.label}
      title={props.label}
      onClick={props.act}
    >
      <Icon name={props.icon} size={14} />
    </button>
  );
}

function RangeForm(props: {
  readonly range: RangeText;
  readonly onChoose: (range: RangeText) => void;
}) {
  const { range, onChoose } = props;
  const [from, setFrom] = useState(range.from);
  const [to, setTo] = useState(range.to);
  const isRight = resolveRange({ from, to }, Date.now()) !== undefined;
  useEffect(() => {
    setFrom(range.from);
    setTo(range.to);
  }, [range.from, range.to]);
  return (
    <div className="time-picker-parts">
      <ul className="time-picker-presets">
        {PRESETS.map(({ label, range: preset }) => (
          <li key={label}>
            <button
              type="button"
              className="button quiet small"
              aria-pressed={preset.from === range.from && preset.to === range.to}
              onClick={() => onChoose(preset)}
            >
              {label}
            </button>
          </li>
        ))}
      </ul>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isRight) onChoose({ from, to });
        }}
      >
        <div className="field">
          <label htmlFor="range-from">From</label>
          <input
            id="range-from"
            className="input mono"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor="range-to">To</label>
          <input
            id="range-to"
            className="input mono"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        </div>
        <p className={isRight ? 'hint soft' : 'field-error'} role="status">
          {isRight ? (
            <>
              UTC: {EXAMPLES.slice(0, 2).map(example)}or {EXAMPLES.slice(2).map(example)}
            </>
          ) : (
            'Invalid time range: use times such as now-1h, with From before To.'
          )}
        </p>
        <button type="submit" className="button primary" disabled={!isRight}>
          Apply time range
        </button>
      </form>
    </div>
  );
}

const example = (text: string, index: number, all: readonly string[]) => (
  <Fragment key={text}>
    <code className="nowrap">{text}</code>
    {index < all.length - 1 ? ', ' : ' '}
  </Fragment>
);

/** The refresh interval in milliseconds, or `undefined` when refresh is off. */
export function refreshMs(text: string | undefined): number | undefined {
  const [, amount = '', unit] = /^(\d+)([sm])$/.exec(text ?? '') ?? [];
  return amount === '' ? undefined : Number(amount) * (unit === 'm' ? 60_000 : 1000);
}
