import type { Machine } from './machine.js';
import type { Bug } from './bugs.js';
import type { Command, Revocation, Host, State } from './state.js';

/** The bounds of a search. */
export interface Scope {
  readonly users: readonly number[];
  readonly revocations: readonly { readonly kind: Revocation['kind']; readonly host: number; readonly target: number }[];
  readonly stale: boolean;
  readonly requests: boolean;
  /** Instances at which users sign in. */
  readonly signInsAt: readonly number[];
  readonly bug: Bug | undefined;
}

/** An action on a copy of a state. */
export interface Action {
  /** Built only for a counter-example. */
  readonly name: () => string;
  readonly apply: (state: State) => void;
  /** The only instance that it changes, if there is one. */
  readonly host: number | undefined;
}

type Add = (name: () => string, apply: (next: State) => void, host?: number) => void;

/** Returns the actions that are possible in a state. */
export function actionsOf(machine: Machine, scope: Scope, state: State): Action[] {
  const actions: Action[] = [];
  const add: Add = (name, apply, host) => void actions.push({ name, apply, host });
  state.hosts.forEach((host, at) => {
    const on = (name: () => string, apply: (next: State, host: Host) => void, isAlone = true): void => {
      const applyHere = (next: State): void => {
        const copy = next.hosts[at];
        if (copy) apply(next, copy);
      };
      add(() => `instance ${at} ${name()}`, applyHere, isAlone ? at : undefined);
    };
    checks(machine, scope, { state, host, on });
    flights(machine, scope, { state, host, on });
    commands(machine, scope, { state, host, on });
    bus(machine, scope, { state, host, on });
    if (state.left.faults > 0)
      add(
        () => `instance ${at} crashes (fault)`,
        (next) => {
          next.left.faults -= 1;
          machine.crash(next, at);
        },
      );
    if (state.left.signIns > 0 && scope.signInsAt.includes(at))
      on(
        () => 'signs in to token 0',
        (next, copy) => {
          next.left.signIns -= 1;
          machine.signIn(next, copy, 0);
        },
      );
  });
  writes(machine, state, add);
  revocations(machine, scope, state, add);
  if (state.left.ticks > 0 && machine.mayPass(state))
    add(
      () => 'a tick passes',
      (next) => {
        next.left.ticks -= 1;
        machine.pass(next, 1);
      },
    );
  return actions;
}

interface Place {
  readonly state: State;
  readonly host: Host;
  readonly on: (name: () => string, apply: (next: State, host: Host) => void, isAlone?: boolean) => void;
}

function checks(machine: Machine, { users, requests }: Scope, { state, host, on }: Place): void {
  if (requests && host.request)
    on(
      () => 'reuses the check of its request',
      (next, copy) => machine.reuse(next, copy),
    );
  users.forEach((_, token) => {
    const joined = machine.joinable(host, token);
    host.cache[token]?.forEach((entry, index) => {
      if (!machine.isUsable(host, entry)) return;
      on(
        () => `answers token ${token} from its cache`,
        (next, copy) => {
          const same = copy.cache[token]?.[index];
          if (same) machine.hit(next, copy, same);
        },
      );
    });
    if (joined) {
      const index = host.flights.indexOf(joined);
      on(
        () => `joins a check of token ${token} to a flight`,
        (next, copy) => {
          const flight = copy.flights[index];
          if (flight) machine.join(next, copy, flight);
        },
      );
    }
    // Also where it is cached: a full cache evicts, and a check may demand a new answer.
    if (!joined && state.left.flights > 0)
      on(
        () => `checks token ${token}, and the store executes the look-up`,
        (next, copy) => {
          next.left.flights -= 1;
          const flight = machine.begin(next, copy, token);
          if (flight.phase === 'looking') machine.look(next, flight);
        },
      );
  });
}

function flights(machine: Machine, { stale }: Scope, { state, host, on }: Place): void {
  host.flights.forEach(({ phase, token }, index) => {
    const onFlight = (name: () => string, apply: (next: State, copy: Host, flight: Host['flights'][number]) => void): void =>
      on(
        () => `${name()} token ${token}`,
        (next, copy) => {
          const flight = copy.flights[index];
          if (flight) apply(next, copy, flight);
        },
      );
    if (phase === 'looked')
      onFlight(
        () => 'receives the look-up of',
        (next, copy, flight) => machine.read(next, copy, flight),
      );
    if (phase === 'asking')
      onFlight(
        () => 'asks the service, which decides on',
        (next, _copy, flight) => machine.serve(next, flight),
      );
    if (phase === 'answered')
      onFlight(
        () => 'receives the response on',
        (next, copy, flight) => machine.reply(next, copy, flight),
      );
    if (phase === 'answered' || state.left.faults === 0) return;
    const failed = phase === 'looked' ? 'misses the look-up of (fault)' : 'gets no response on (fault)';
    if (phase === 'asking' && !stale) return;
    onFlight(
      () => failed,
      (next, copy, flight) => {
        next.left.faults -= 1;
        if (phase === 'asking') machine.reply(next, copy, flight);
        else {
          flight.since = undefined;
          machine.ask(next, flight);
        }
      },
    );
  });
}

function commands(machine: Machine, { bug }: Scope, { state, host, on }: Place): void {
  const [first, second] = host.queue;
  const ready = [first, ...(bug === 'late-clear' && first?.kind === 'clear' ? [second] : [])];
  for (const command of ready) {
    if (!command) continue;
    const index = host.queue.indexOf(command);
    const onCommand = (name: () => string, apply: (next: State, copy: Host, command: Command) => void): void =>
      on(
        () => `${name()} ${nameOf(command)}`,
        (next, copy) => {
          const same = copy.queue[index];
          if (same) apply(next, copy, same);
        },
        false,
      );
    onCommand(
      () => 'has the store execute',
      (next, copy, same) => machine.execute(next, copy, same),
    );
    if (state.left.faults === 0) continue;
    for (const isExecuted of [true, false])
      onCommand(
        () => (isExecuted ? 'gets no reply (fault) to' : 'loses (fault)'),
        (next, copy, same) => {
          next.left.faults -= 1;
          machine.fail(next, copy, same, isExecuted);
        },
      );
  }
  host.outbox.forEach((command, index) =>
    on(
      () => `repeats ${nameOf(command)}`,
      (_next, copy) => {
        const same = copy.outbox[index];
        if (same) machine.retry(copy, same);
      },
    ),
  );
}

function bus(machine: Machine, _scope: Scope, { state, host, on }: Place): void {
  for (const revocation of new Set(host.inbox)) {
    on(
      () => `receives the message of revocation ${revocation}`,
      (next, copy) => machine.receive(next, copy, revocation),
    );
    if (state.left.faults > 0)
      on(
        () => `loses the message of revocation ${revocation} (fault)`,
        (next, copy) => {
          next.left.faults -= 1;
          machine.lose(copy, revocation);
        },
      );
  }
  if (host.subscription === 'none')
    on(
      () => 'subscribes',
      (next, copy) => machine.subscribe(next, copy),
    );
  if (host.subscription === 'confirming')
    on(
      () => 'is subscribed',
      (_next, copy) => machine.confirm(copy),
    );
  if (host.subscription !== 'none' && state.left.faults > 0)
    on(
      () => 'loses its subscription (fault)',
      (next, copy) => {
        next.left.faults -= 1;
        machine.interrupt(copy);
      },
    );
}

function writes(machine: Machine, state: State, add: Add): void {
  state.writes.forEach(({ host, answer, isRefused }, index) => {
    const does = isRefused ? 'learns that its write is refused, of' : 'has the store execute the write of';
    add(
      () => `instance ${host} ${does} token ${answer.token}`,
      (next) => {
        const write = next.writes[index];
        if (!write) return;
        if (isRefused) machine.refusedWrite(next, write);
        else machine.write(next, write);
      },
    );
    if (state.left.faults > 0)
      add(
        () => `instance ${host} loses (fault) the write of token ${answer.token}, or its reply`,
        (next) => {
          next.left.faults -= 1;
          next.writes.splice(index, 1);
        },
      );
  });
}

function revocations(machine: Machine, { revocations }: Scope, state: State, add: Add): void {
  for (const { kind, host, target } of revocations) {
    if (state.revocations.some((revocation) => revocation.kind === kind && revocation.host === host && revocation.target === target))
      continue;
    add(
      () => `instance ${host} begins ${kind} of ${target}`,
      (next) => void machine.start(next, host, kind, target),
    );
  }
  state.revocations.forEach(({ phase }, index) => {
    if (phase === 'called')
      add(
        () => `revocation ${index} settles`,
        (next) => machine.settle(next, index),
      );
    if (phase !== 'calling') return;
    for (const isExecuted of state.left.faults > 0 ? [true, false] : [true])
      add(
        () => `the service ${isExecuted ? 'executes' : 'fails (fault)'} the sign-out of revocation ${index}`,
        (next) => {
          if (!isExecuted) next.left.faults -= 1;
          const revocation = next.revocations[index];
          if (revocation) machine.endAtService(next, revocation, isExecuted);
        },
      );
  });
}

function nameOf(command: Command): string {
  return command.kind === 'clear'
    ? `the removal of the tombstone of token ${command.token}`
    : `the ${command.kind} of revocation ${command.revocation}`;
}
