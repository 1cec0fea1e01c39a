"""Which NameNodes an HDFS URL means: its own host, or those that the Hadoop configuration has for its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from hopyard.store.filesystem import Server
from hopyard.store.location import Location

_FILES = ("core-site.xml", "hdfs-site.xml")
_ROLE = "a NameNode"


def namenodes(
    location: Location, options: Mapping[str, object], environ: Mapping[str, str] = os.environ
) -> tuple[Server, ...]:
    """Returns the NameNodes of a location; none if the configuration does not name them."""
    direct = _server(location.authority)
    if direct is not None:
        return (direct,)
    settings = {**_configured(options, environ), **{key: str(value) for key, value in options.items()}}
    service = location.authority or Location.parse(settings.get("fs.defaultFS", "hdfs://")).authority
    ids = settings.get(f"dfs.ha.namenodes.{service}", "").split(",")
    addresses = [settings.get(f"dfs.namenode.rpc-address.{service}.{each.strip()}", "") for each in ids]
    return tuple(server for server in map(_server, [service, *addresses]) if server is not None)


def _server(address: str) -> Server | None:
    host, _, port = address.rpartition(":")
    return Server(host=host.strip("[]"), port=int(port), role=_ROLE) if host and port.isdecimal() else None


def _configured(options: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings in the files that the client reads, too."""
    home = environ.get("HADOOP_HOME")
    folder = options.get("config_dir") or environ.get("HADOOP_CONF_DIR") or (home and f"{home}/etc/hadoop")
    if not folder:
        return {}
    settings: dict[str, str] = {}
    for path in (Path(str(folder), name) for name in _FILES):
        if path.is_file():
            for each in ElementTree.parse(path).iter("property"):  # noqa: S314  the administrator's own file
                settings[each.findtext("name", "").strip()] = each.findtext("value", "").strip()
    return settings
