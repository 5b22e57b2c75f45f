import { emptyResponse, OpenApi, type Route } from '@plinth/kernel';

const EDITOR = '/console/gamedata';

/** Redirects to the editor, which is part of the web console. Source: gamedata, section 6.6. */
export const editorPageRoutes = (): readonly Route[] =>
  ['/editor', '/editor/'].map((path, index) => ({
    method: 'GET',
    path,
    access: 'public',
    about: { summary: 'Redirect to the editor in the web console', tags: ['pages'] },
    output: { 303: OpenApi.response('the editor') },
    isAlias: index > 0,
    handle: () => emptyResponse(303, [['location', EDITOR]]),
  }));
