"""The ports, certificates and settings of one run, and the intermediaries that use them."""

import pathlib
import signal
import subprocess

from processes import Daemon, find, free_ports

SETTINGS = pathlib.Path(__file__).resolve().parent
FRONTS = ("nginx", "haproxy")
USER = "ann"
# Where it can be, one that has to be escaped in an address; tinyproxy's settings have no place for such.
PASSWORDS = {"tinyproxy": "pass-word", "squid": "p@ss:w/rd"}


class Site:
    """The ports and files of one run."""

    def __init__(self, folder):
        self.folder = folder
        self.free_ports = free_ports()
        self.server = next(self.free_ports)
        self.ports = {name: {"PLAIN": next(self.free_ports), "TLS": next(self.free_ports)} for name in FRONTS}
        self.authority, self.certificate = folder / "authority.pem", folder / "server.pem"
        self.make_certificates()
        users = subprocess.run(["openssl", "passwd", "-apr1", PASSWORDS["squid"]], check=True, capture_output=True, text=True)
        (folder / "users").write_text(f"{USER}:{users.stdout}")

    def make_certificates(self):
        """An authority, and a certificate for 127.0.0.1 with its key behind it, as HAProxy wants them."""
        authority_key, key = self.folder / "authority.key", self.folder / "server.key"
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2"]
        for arguments in (
            [*curve, "-keyout", authority_key, "-out", self.authority, "-subj", "/CN=Authority of ci intermediaries"],
            [*curve, "-keyout", key, "-out", self.certificate, "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
             "-CA", self.authority, "-CAkey", authority_key],
        ):
            subprocess.run(["openssl", "req", "-x509", *arguments], check=True, capture_output=True)
        self.certificate.write_text(self.certificate.read_text() + key.read_text())

    def settings(self, template, name, **values):
        text = (SETTINGS / template).read_text()
        values |= {"FOLDER": self.folder, "SERVER": self.server, "CERTIFICATE": self.certificate}
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        file = self.folder / name
        file.write_text(text)
        # Its reader is another user.
        file.chmod(0o644)
        return file

    def front(self, name):
        """What stands before the server, in plain text and with TLS."""
        ports = self.ports[name]
        if name == "nginx":
            file = self.settings("nginx.conf", "nginx.conf", **ports)
            return Daemon(name, [find(name), "-e", "stderr", "-c", file], ports["PLAIN"], self.folder, signal.SIGHUP)
        file = self.settings("haproxy.cfg", "haproxy.cfg", **ports)
        return Daemon(name, [find(name), "-W", "-db", "-f", file], ports["PLAIN"], self.folder, signal.SIGUSR2)

    def proxy(self, name, tls_port, authenticated):
        port = next(self.free_ports)
        values = {"PORT": port, "TLS": tls_port, "AUTHENTICATION": ""}
        if name == "tinyproxy":
            if authenticated:
                values["AUTHENTICATION"] = f"BasicAuth {USER} {PASSWORDS[name]}"
            file = self.settings("tinyproxy.conf", f"tinyproxy-{port}.conf", **values)
            return Daemon(name, [find(name), "-d", "-c", file], port, self.folder)
        if authenticated:
            values["AUTHENTICATION"] = (
                f"auth_param basic program /usr/lib/squid/basic_ncsa_auth {self.folder / 'users'}\n"
                "acl known proxy_auth REQUIRED\nhttp_access deny !known")
        file = self.settings("squid.conf", f"squid-{port}.conf", **values)
        return Daemon(name, [find(name), "-N", "-f", file], port, self.folder)
