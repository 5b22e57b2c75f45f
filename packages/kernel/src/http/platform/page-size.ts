import { Type } from 'typebox';

const USUAL = 30;
const MOST = 100;

/** As it is described. */
export const PER_PAGE = Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, default: USUAL }));

/** How many a list shows: `usual` where the text is no number from 1 on, and never more than `most`. Source: webhooks, section 5.3. */
export const pageSize = (text: string | null, usual = USUAL, most = MOST): number =>
  text !== null && /^\d+$/.test(text) ? Math.min(Number(text) || usual, most) : usual;
