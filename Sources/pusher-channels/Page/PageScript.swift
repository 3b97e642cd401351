enum PageScript {
    /// The live page's script: polls the server's state and shows it, and publishes the event in the form.
    ///
    /// Everything from the server becomes text through `textContent`, or a field's value. The page's policy forbids making markup
    /// of text.
    static let javaScript = #"""
        'use strict';
        const byID = id => document.getElementById(id);
        const interval = 400, patience = 5000;
        let isFirst = true;

        function make(tag, className, text) {
          const element = document.createElement(tag);
          if (className) element.className = className;
          if (text !== undefined) element.textContent = text;
          return element;
        }

        function say(element, text) {
          if (element.textContent !== text) element.textContent = text;
        }

        function plural(count, one, many) {
          return count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${many}`;
        }

        // A text that a client may have chosen, isolated from what is beside it: it may be written from right to left.
        function excerpt(tag, className, { text, rest }) {
          const element = make(tag, className);
          element.append(make('bdi', '', text));
          if (rest > 0) element.append(make('span', 'rest', ` … and ${plural(rest, 'byte', 'bytes')} more`));
          return element;
        }

        function row(...children) {
          const element = make('div', 'row');
          element.append(...children);
          return element;
        }

        // What isn't shown of a list is counted.
        function names(list, none) {
          const element = make('div', 'detail');
          if (list.total === 0) element.textContent = none;
          list.items.forEach((name, index) => element.append(index ? ', ' : '', excerpt('span', '', name)));
          if (list.total > list.items.length) element.append(` and ${(list.total - list.items.length).toLocaleString('en')} more`);
          return element;
        }

        // Rows stay what they are as long as what they show does: what somebody selects remains selected.
        function update(list, items, key, rowOf) {
          const old = new Map([...list.children].map(element => [element.key, element]));
          items.forEach((item, index) => {
            const id = key(item), version = JSON.stringify({ ...item, age: 0 });
            let element = old.get(id);
            if (element?.version !== version) {
              const replaced = element;
              element = make('li', isFirst || replaced ? '' : 'new');
              Object.assign(element, { key: id, version });
              element.append(...rowOf(item));
              replaced?.remove();
            }
            if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
          });
          while (list.children.length > items.length) list.lastChild.remove();
        }

        function show(name, { total, items }, key, rowOf) {
          update(byID(`${name}s`), items, key, rowOf);
          say(byID(`${name}-count`), total.toLocaleString('en'));
          byID(`no-${name}s`).hidden = total > 0;
          const more = byID(`more-${name}s`);
          more.hidden = total <= items.length;
          say(more, `and ${(total - items.length).toLocaleString('en')} more`);
        }

        let hasSeveralApps = false;
        const appOf = item => hasSeveralApps ? [excerpt('span', 'detail', item.app)] : [];

        function eventRow(event) {
          const time = new Date(Date.now() - event.age).toLocaleTimeString([], { hour12: false });
          const from = event.sender === undefined ? 'from the backend' : `from connection ${event.sender}`;
          const receivers = event.receivers === 0 ? 'nobody' : plural(event.receivers, 'connection', 'connections');
          const rows = [
            row(excerpt('span', 'name', event.name), excerpt('span', 'detail', event.channel), ...appOf(event), make('time', 'end', time)),
            make('div', 'detail', `${from}, to ${receivers}`),
          ];
          if (event.data.text) rows.push(excerpt('div', 'data code', event.data));
          return rows;
        }

        function channelRow(channel) {
          const count = make('span', 'end', plural(channel.subscribers, 'connection', 'connections'));
          const first = row(excerpt('span', 'name', channel.name), ...appOf(channel), count);
          if (!channel.members) return [first];
          const members = names(channel.members, 'no members');
          members.prepend(`${plural(channel.members.total, 'member', 'members')}: `);
          return [first, members];
        }

        function connectionRow(connection) {
          const user = connection.user ? [excerpt('span', 'detail', connection.user)] : [];
          return [
            row(make('span', 'name', `Connection ${connection.number}`), ...user, ...appOf(connection), make('span', 'end code', connection.socketID)),
            names(connection.channels, 'no channels'),
          ];
        }

        function fill(element, texts, partOf) {
          if (element.version === texts.join('\n')) return;
          element.version = texts.join('\n');
          element.replaceChildren(...texts.flatMap(partOf));
        }

        const optionOf = text => Object.assign(make('option', '', text), { value: text });

        function showState({ profile, server }) {
          hasSeveralApps = server.apps.total > 1;
          const keys = server.apps.items.map(app => app.text);
          say(byID('keys'), keys.join(', '));
          say(byID('profile'), profile);
          const tls = location.protocol === 'https:' ? ['--tls', '--ca-file FILE'] : [];
          const command = ['pusher-channels listen my-channel', `--port ${location.port}`, `--key ${keys[0]}`, ...tls];
          fill(byID('hint'), command, text => [make('span', '', text), ' ']);
          byID('app-field').hidden = !hasSeveralApps;
          fill(byID('app'), keys, optionOf);
          fill(byID('channel-names'), server.channels.items.filter(channel => !channel.name.rest).map(channel => channel.name.text), optionOf);
          show('event', server.events, event => `${event.number}`, eventRow);
          show('channel', server.channels, channel => `${channel.name.text}\n${channel.app.text}\n${channel.name.rest}`, channelRow);
          show('connection', server.connections, connection => `${connection.number}`, connectionRow);
          isFirst = false;
        }

        function showStatus(state, text) {
          byID('status').dataset.state = state;
          say(byID('status'), text);
        }

        let isLooking = false;
        async function look() {
          if (document.hidden || isLooking) return;
          isLooking = true;
          try {
            const response = await fetch('/page/state', { signal: AbortSignal.timeout(patience) });
            if (!response.ok) throw new Error(response.status);
            showState(await response.json());
            showStatus('live', 'Live');
          } catch {
            showStatus('lost', 'The server can’t be reached. Trying again.');
          } finally {
            isLooking = false;
          }
        }

        function showOutcome(isGood, text) {
          byID('outcome').classList.toggle('bad', !isGood);
          byID('outcome').textContent = text;
        }

        async function publish() {
          const event = { app: byID('app').value };
          for (const name of ['channel', 'event', 'data']) event[name] = byID(name).value;
          const headers = { 'Content-Type': 'application/json' };
          try {
            const response = await fetch('/page/publish', { method: 'POST', headers, body: JSON.stringify(event), signal: AbortSignal.timeout(patience) });
            if (!response.ok) return showOutcome(false, await response.text());
            const { receivers } = await response.json();
            showOutcome(true, receivers ? `Sent to ${plural(receivers, 'connection', 'connections')}.` : 'Published. Nobody is subscribed to the channel.');
            look();
          } catch {
            showOutcome(false, 'The server can’t be reached.');
          }
        }

        byID('publish').addEventListener('submit', event => {
          event.preventDefault();
          publish();
        });
        byID('data').addEventListener('keydown', event => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          byID('publish').requestSubmit();
        });
        document.addEventListener('visibilitychange', look);
        byID('address').textContent = location.host;
        document.title = `Pusher Channels on ${location.host}`;
        setInterval(look, interval);
        look();
        """#
}
