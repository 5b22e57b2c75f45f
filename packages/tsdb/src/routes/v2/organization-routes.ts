import { checkedRoute, jsonResponse, type Principal, type Route } from '@plinth/kernel';
import { Type } from 'typebox';
import { idOf, ORGANIZATION_ID, ORGANIZATION_NAME, v2Failure } from './v2-objects.js';
import { Id, many, ORG, Organization, one, PAGE, User } from './v2-schemas.js';

/** Source: tsdb-http, "v2 management". */
export function organizationRoutes(): readonly Route[] {
  return [
    checkedRoute({
      method: 'GET',
      path: '/api/v2/orgs',
      access: 'granted',
      about: {
        summary: 'Get the organization (v2)',
        description: 'The server has one organization. Every name refers to it.',
      },
      input: { query: Type.Object({ ...ORG, ...PAGE }) },
      output: many('orgs', Organization),
      errors: { 404: 'no organization has this id' },
      handle(_request, { query: { org, orgID = ORGANIZATION_ID } }) {
        if (orgID !== ORGANIZATION_ID) return NOT_FOUND;
        return jsonResponse(200, { orgs: [organization(org)], links: { self: '/api/v2/orgs' } });
      },
    }),
    checkedRoute({
      method: 'GET',
      path: '/api/v2/orgs/:orgID',
      access: 'granted',
      about: { summary: 'Get an organization by id (v2)' },
      input: { parameters: Id('orgID') },
      output: one(200, Organization),
      errors: { 404: 'no organization has this id' },
      handle: ({ parameters }) =>
        parameters['orgID'] === ORGANIZATION_ID ? jsonResponse(200, organization()) : NOT_FOUND,
    }),
    checkedRoute({
      method: 'GET',
      path: '/api/v2/me',
      access: 'granted',
      about: { summary: 'Get the user that represents the token of this request (v2)' },
      input: {},
      output: one(200, User),
      handle: ({ principal }) => jsonResponse(200, { ...userOf(principal), status: 'active' }),
    }),
  ];
}

const NOT_FOUND = v2Failure(404, 'organization not found');

export const organization = (name = ORGANIZATION_NAME): object => ({
  id: ORGANIZATION_ID,
  name,
  status: 'active',
  links: { self: `/api/v2/orgs/${ORGANIZATION_ID}` },
});

/** Returns the id of a user. Users with passwords are not authorizations, so no authorization has their id. */
const userId = (id: string): string => (/^\d+$/.test(id) ? idOf(Number(id)) : 'ffffffffffffffff');

/** Returns a user for the token itself, because 2.x clients expect a user behind each token. */
function userOf(principal: Principal): { readonly id: string; readonly name: string } {
  switch (principal.kind) {
    case 'admin':
      return { id: idOf(principal.tokenId), name: principal.tokenName };
    case 'grantee':
      return { id: userId(principal.id), name: principal.name };
    default:
      return { id: idOf(0), name: 'anonymous' };
  }
}
