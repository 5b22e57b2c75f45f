import { Type } from 'typebox';

const USUAL = 30;
const MOST = 100;

/** The schema of the parameter. */
export const PER_PAGE = Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, default: USUAL }));

/**
 * Returns the page size: `usual` unless the text is a positive integer, and at most `most`. Source: webhooks, section
 * 5.3.
 */
export const pageSize = (text: string | null, usual = USUAL, most = MOST): number =>
  text !== null && /^\d+$/.test(text) ? Math.min(Number(text) || usual, most) : usual;
