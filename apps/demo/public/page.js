const SHOWN_HEADERS = ['WWW-Authenticate', 'Retry-After', 'Cache-Control', 'Vary'];
const MAX_SHOWN_CALLS = 30;

// The token is kept in these variables only: no storage, no cookie.
let session;
let endedToken;

const find = (id) => document.getElementById(id);

const mask = (token) => `${token.slice(0, 4)}…`;

function hideTokens(text) {
  return [session?.token, endedToken].filter(Boolean).reduce((masked, token) => masked.replaceAll(token, mask(token)), text);
}

async function send(method, path, { token, body } = {}) {
  const headers = { accept: 'application/json' };
  if (token) headers['X-AUTH-TOKEN'] = token;
  if (body) headers['content-type'] = 'application/json';
  try {
    const reply = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: 'no-store' });
    return { status: reply.status, reason: reply.statusText, headers: reply.headers, text: await reply.text() };
  } catch {
    return { status: 0, reason: 'No reply: is the demo still running?', headers: new Headers(), text: '' };
  }
}

function prettyBody(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text || '(no body)';
  }
}

function sentLines({ token, body }) {
  const lines = [];
  if (token) lines.push(`X-AUTH-TOKEN: ${mask(token)}`);
  if (body) lines.push(JSON.stringify({ ...body, password: '••••••' }));
  return lines.join('\n') || '(no token)';
}

function show(method, path, sent, reply) {
  const call = find('call-template').content.cloneNode(true);
  const status = reply.status ? `${reply.status} ${reply.reason}`.trim() : reply.reason;
  call.querySelector('.line').textContent = `${method} ${path}`;
  call.querySelector('.status').textContent = status;
  call.querySelector('.call').dataset.kind = String(reply.status).charAt(0);
  call.querySelector('.sent').textContent = sentLines(sent);
  const headers = SHOWN_HEADERS.filter((name) => reply.headers.has(name)).map((name) => `${name}: ${reply.headers.get(name)}`);
  call.querySelector('.headers').textContent = headers.join('\n');
  call.querySelector('.headers').hidden = headers.length === 0;
  call.querySelector('.body').textContent = hideTokens(prettyBody(reply.text));
  find('calls').prepend(call);
  while (find('calls').children.length > MAX_SHOWN_CALLS) find('calls').lastElementChild.remove();
  find('empty').hidden = true;
  const summary = `${method} ${path}: ${status}`;
  find('announcement').textContent = summary;
  find('latest').textContent = summary;
  find('latest').hidden = false;
}

async function call(method, path, sent = {}) {
  const reply = await send(method, path, sent);
  if (method === 'POST' && path === '/api/session' && reply.status === 200) startSession(JSON.parse(reply.text));
  show(method, path, sent, reply);
  return reply;
}

function startSession({ token, user }) {
  session = { token, user };
  endedToken = undefined;
  refresh();
}

function refresh() {
  const user = session?.user;
  const name = user && ([user.first_name, user.last_name].filter(Boolean).join(' ') || user.username || user.email);
  const roles = user && [user.role, user.sub_role].filter(Boolean).join(', ');
  find('who').textContent = user ? `Signed in as ${name}${roles ? ` (${roles})` : ''}` : 'Not signed in';
  find('who').classList.toggle('in', Boolean(user));
  find('signed-out').hidden = Boolean(user);
  find('signed-in').hidden = !user;
  find('signed-out-before').hidden = !endedToken;
}

async function signIn(username, password) {
  await call('POST', '/api/session', { body: { username, password } });
  if (session) find('sign-out').focus();
}

async function signOut() {
  const { token } = session;
  const { status } = await call('DELETE', '/api/session', { token });
  if (status !== 204 && status !== 401) return;
  endedToken = token;
  session = undefined;
  refresh();
  find('old-token').focus();
}

function callRoute(button) {
  const [method, route] = button.dataset.call.split(' ');
  return call(method, route.replace(':id', encodeURIComponent(find('opening').value)), { token: session?.token });
}

function offer(user) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  const about = document.createElement('small');
  button.type = 'button';
  button.textContent = `${user.username} `;
  about.textContent = user.about;
  button.addEventListener('click', () => signIn(user.username, user.password));
  button.append(about);
  item.append(button);
  find('users').append(item);
  find('quick').hidden = false;
}

find('sign-in').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { username, password } = Object.fromEntries(new FormData(event.target));
  await signIn(username, password);
  find('password').value = '';
});
find('sign-out').addEventListener('click', signOut);
find('old-token').addEventListener('click', () => call('GET', '/api/me', { token: endedToken }));
find('clear').addEventListener('click', () => {
  find('calls').replaceChildren();
  find('empty').hidden = false;
  find('latest').hidden = true;
});
document.querySelectorAll('[data-call]').forEach((button) => button.addEventListener('click', () => callRoute(button)));

const users = await send('GET', '/api/demo-users');
if (users.status === 200) JSON.parse(users.text).forEach(offer);
