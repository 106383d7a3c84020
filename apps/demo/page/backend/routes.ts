/** A parameter of a path, with the values to choose from. */
export interface RouteParameter {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
}

/** A route of the backend, as its controller declares it. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The users who may call it. */
  readonly admits: string;
  readonly parameter?: RouteParameter;
}

export const ME: Route = { method: 'GET', path: '/api/me', admits: 'anyone signed in' };

export const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/api/health', admits: 'everyone' },
  { method: 'GET', path: '/api/greeting', admits: 'anyone, signed in or not' },
  ME,
  { method: 'GET', path: '/api/openings', admits: 'hiring managers' },
  {
    method: 'POST',
    path: '/api/openings/:id/approval',
    admits: 'hiring managers who are approvers',
    parameter: { name: ':id', label: 'Opening', values: ['op-1', 'op-2', 'op-3'] },
  },
  { method: 'GET', path: '/api/onboarding', admits: 'new hires' },
  {
    method: 'GET',
    path: '/api/companies/:companyId/report',
    admits: 'users of that company',
    parameter: { name: ':companyId', label: 'Company', values: ['210', '215'] },
  },
  { method: 'GET', path: '/api/benefits', admits: 'users with benestream_enabled' },
  { method: 'GET', path: '/api/benefits/advice', admits: 'users with help_checkbox' },
  { method: 'POST', path: '/api/payroll/run', admits: 'hiring managers; never from the cache' },
];

/** Returns the key of a route in the sources of the controllers: `GET /api/me`. */
export function routeKey({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
