import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTime } from './chrono-format.js';
import { parseByFormat } from './chrono-parse.js';

/** 2001-07-08T00:34:59.026490708Z, the instant used in chrono's documentation, minus one second. */
const TIME_NS = 994_552_499_026_490_708n;

describe('formatTime', () => {
  const check = (format: string, text: string, zone?: string) =>
    assert.equal(formatTime(TIME_NS, format, zone), text, format);

  it('writes the parts of a date', () => {
    check('%Y %C %y %m %b %B %h %d %e', '2001 20 01 07 Jul July Jul 08  8');
    check('%a %A %w %u %U %W %G %g %V %j', 'Sun Sunday 0 7 27 27 2001 01 27 189');
    check('%D %F %v', '07/08/01 2001-07-08  8-Jul-2001');
  });

  it('writes the parts of a time', () => {
    check('%H %k %I %l %P %p %M %S', '00  0 12 12 am AM 34 59');
    check('%f %.f %.3f %.6f %.9f', '026490708 .026490708 .026 .026490 .026490708');
    check('%3f %6f %9f %R %T %r', '026 026490 026490708 00:34 00:34:59 12:34:59 AM');
    check('%s %c', '994552499 Sun Jul  8 00:34:59 2001');
  });

  it('writes the offset of the zone', () => {
    check('%z %:z %+', '+0930 +09:30 2001-07-08T10:04:59.026490708+09:30', '+09:30');
    check('%H %z', '02 +0200', 'Europe/Berlin');
  });

  it('applies the padding flag', () => check('%-d %_m %-H %0e %%', '8  7 0 08 %'));

  it('rejects unknown specifiers', () => {
    assert.equal(formatTime(TIME_NS, '%Q', undefined), undefined);
    assert.equal(formatTime(TIME_NS, 'x%', undefined), undefined);
  });
});

describe('parseByFormat', () => {
  const check = (text: string, format: string, timeNs: bigint) =>
    assert.deepEqual(parseByFormat(text, format), { timeNs }, `${text} ${format}`);
  const refuse = (text: string, format: string, problem: string) =>
    assert.deepEqual(parseByFormat(text, format), { problem }, `${text} ${format}`);

  it('reads what formatTime writes', () => {
    check('2001-07-08T10:04:59.026490708+09:30', '%+', TIME_NS);
    check('Sun Jul  8 00:34:59 2001', '%c', 994_552_499_000_000_000n);
    check('08.07.01 12:34 am', '%d.%m.%y %I:%M %p', 994_552_440_000_000_000n);
    check('2001 189', '%Y %j', 994_550_400_000_000_000n);
    check('994552499', '%s', 994_552_499_000_000_000n);
  });

  it('reads offsets without minutes', () => {
    check('01-14-2023 01:01:30+05:30', '%m-%d-%Y %H:%M:%S%#z', 1_673_638_290_000_000_000n);
    check('01-14-2023 01:01:30 -0530', '%m-%d-%Y %H:%M:%S %#z', 1_673_677_890_000_000_000n);
    check('01-14-2023 01:01:30+05', '%m-%d-%Y %H:%M:%S%#z', 1_673_640_090_000_000_000n);
    check('01-14-2023 01:01:30Z', '%m-%d-%Y %H:%M:%S%#z', 1_673_658_090_000_000_000n);
    assert.equal(formatTime(TIME_NS, '%#z', undefined), undefined);
  });

  it('reads the last day only of leap years', () => {
    check('2024 366', '%Y %j', 1_735_603_200_000_000_000n);
    refuse('2023 366', '%Y %j', 'input is out of range');
  });

  it('reports why a text does not match', () => {
    refuse('abc', '%Y', 'input contains invalid characters');
    refuse('2001-13-01', '%Y-%m-%d', 'input is out of range');
    refuse('2001-02-30', '%Y-%m-%d', 'input is out of range');
    refuse('2001-02', '%Y-%m-%d', 'premature end of input');
    refuse('2001-02-03x', '%Y-%m-%d', 'trailing input');
    refuse('10:00', '%H:%M', 'input is not enough for unique date and time');
  });
});
