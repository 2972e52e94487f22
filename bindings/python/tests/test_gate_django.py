"""Django and its REST framework under a gate, each test in a process of its own, because Django has one configuration for all of one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_gate_frameworks import ALLOWED, MISROUTED

pytestmark = pytest.mark.once

# What each test's program begins with: one table of URLs, and the settings that its views need.
BEGIN = """
import json, sys
from django.conf import settings
sys.path.insert(0, sys.argv[1])
urls = type(sys)("urls")
sys.modules["urls"] = urls

def configure(*middlewares):
    settings.configure(
        ROOT_URLCONF="urls", ALLOWED_HOSTS=["*"], MIDDLEWARE=middlewares, SECRET_KEY="-", LOGGING_CONFIG=None, REST_FRAMEWORK={
            "UNAUTHENTICATED_USER": None,
            "DEFAULT_AUTHENTICATION_CLASSES": [],
            "DEFAULT_PERMISSION_CLASSES": [],
            "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        },
    )
"""


def said_by(program: str, *options: str) -> Any:
    command = [sys.executable, *options, "-c", BEGIN + program, str(Path(__file__).parent)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


DJANGO = """
from django.http import HttpResponse
from django.urls import clear_url_caches, include, path, re_path
from django.views import View
from orbgate import Policy
from orbgate.gate import RoutesDiffer
from orbgate.gate.django import allowed, around, protect
from test_gate import USERS, World, call, call_wsgi
from test_gate_frameworks import REWRITES, RULES

ran = []

def user(request, **_):
    ran.append(f"{request.method} {request.path_info}")
    return HttpResponse(allowed(request).token.subject)

class Orders(View):
    def get(self, request, id): return user(request)

class Users(Orders):
    def delete(self, request, id): return user(request)

class Middleware:
    changes, where = {}, ""
    def __init__(self, get_response): self.get_response = get_response
    def __call__(self, request):
        if self.where == "before": self.change(request)
        return self.get_response(request)
    def process_view(self, request, *_):
        # As django-method-override does.
        if self.where == "view": self.change(request)
    def change(self, request):
        for name, value in self.changes.items():
            if name == "urlconf": request.urlconf = value
            elif name == "path": request.path = request.path_info = value
            else: request.method = value

others = type(sys)("others")
sys.modules.update(others=others, middleware=sys.modules[__name__])
configure("middleware.Middleware")
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application

results = {"tables": {}, "rewrites": {}}
over = [(get_asgi_application, lambda *given, **changes: call(*given, **changes)[0]), (get_wsgi_application, call_wsgi)]
tables = {
    "the route": [path("users/<str:id>", user)],
    "a class": [path("users/<slug:id>", Orders.as_view())],
    "included": [path("users/", include([path("<id>", user)]))],
    "another first": [path("users/export", user), path("users/<str:id>", user)],
    "a path": [path("users/<path:rest>", user)],
    "an expression": [re_path(r"^users/(?P<id>[a-z]+)$", user)],
    "an expression of several segments": [re_path(r"^users/(?P<id>.+)$", user)],
    "all paths": [re_path("", user)],
    "nothing": [],
}
for name, urls.urlpatterns in tables.items():
    clear_url_caches()
    world, statuses, differ = World(Policy.from_yaml(USERS)), [], []
    for application, of in over:
        try:
            protect(application(), world.gate)
        except RoutesDiffer as error:
            differ = error.undeclared
        statuses.append(of(around(application(), world.gate), "/users/export", world.headers("read:a")))
    misrouted = sum(count for one, count in world.counted.items() if one.startswith("orbgate_misrouted_total GET /users/{id}"))
    results["tables"][name] = [differ, *statuses, misrouted]
# The caller says what the prefix is.
urls.urlpatterns = [path("<str:id>", user)]
clear_url_caches()
world = World(Policy.from_yaml(USERS))
headers = world.headers("read:a")
below = call(around(get_asgi_application(), world.gate), "/users/7", headers, root_path="/users")[0]
results["a prefix"] = [below, call_wsgi(around(get_wsgi_application(), world.gate), "/users/7", headers, SCRIPT_NAME="/users", PATH_INFO="/7")]
urls.urlpatterns = [path("users/<id>", Users.as_view()), path("export", user)]
others.urlpatterns = [path("users/<id>", user), path("users/<path:rest>", user)]
for Middleware.where in ("before", "view"):
    for name, Middleware.changes in {**REWRITES, "another table": {"urlconf": "others"}}.items():
        clear_url_caches()
        for application, of in over:
            world = World(Policy.from_yaml(RULES))
            ran.clear()
            status = of(protect(application(), world.gate), "/users/7", world.headers("read:a"))
            results["rewrites"].setdefault(f"{name}, {Middleware.where}", []).append([status, list(ran), sorted(world.counted.items()), len(world.audit)])
Middleware.changes = {}
# Django serves no WebSockets, and raises an exception for one.
urls.urlpatterns = [path("users/<id>", user)]
clear_url_caches()
websocket = {"type": "websocket", "method": None, "extensions": {"websocket.http.response": {}}}
gated = around(get_asgi_application(), world.gate)
results["a websocket"] = [call(gated, "/users/7", world.headers(scope), **websocket)[0] for scope in ("read:a", "other")]
# What `protect` has returned isn't what is served.
application = get_wsgi_application()
protect(application, world.gate)
results["without the gate"] = call_wsgi(application, "/users/7", world.headers("read:a"))
print(json.dumps(results))
"""


def test_django_runs_the_decided_route() -> None:
    results = said_by(DJANGO, "-W", "error")
    assert results.pop("a websocket") == [404, 403]
    user = "GET /users/{id}"
    assert results.pop("tables") == {
        "the route": [[], 200, 200, 0],
        "a class": [[], 200, 200, 0],
        "included": [[], 200, 200, 0],
        "another first": [[["GET /users/export", user]], 404, 404, 2],
        "a path": [[["GET /users/{*rest}", user]], 404, 404, 2],
        "an expression": [[], 200, 200, 0],
        "an expression of several segments": [[["GET /users/(?P{id}.+)", user]], 404, 404, 2],
        "all paths": [[["GET /", None]], 404, 404, 2],
        "nothing": [[], 404, 404, 2],
    }
    denied = [404, [], [["orbgate_decisions_total deny no_route ", 1], [MISROUTED, 1]], 1]
    allowed = [200, ["GET /users/7"], [[ALLOWED, 1]], 1]
    for name, result in results.pop("rewrites").items():
        # Other URLs than those that were compared lead nowhere.
        assert result == [allowed if name in ("nothing, before", "nothing, view") else denied] * 2, name
    assert results == {"a prefix": [404, 404], "without the gate": 500}


REST = """
configure("django.middleware.common.CommonMiddleware")
from django.core.wsgi import get_wsgi_application
from django.urls import clear_url_caches, include, path
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.viewsets import ViewSet
from orbgate import Policy
from orbgate.gate import RoutesDiffer
from orbgate.gate.django import protect
from test_gate import World, call_wsgi
from test_gate_django import ITEMS

class Items(ViewSet):
    def list(self, request): return Response("list")
    def create(self, request): return Response("create")
    def retrieve(self, request, pk): return Response(pk)
    @action(detail=True)
    def history(self, request, pk): return Response(pk)

class Plain(DefaultRouter):
    include_format_suffixes = False

get_wsgi_application()
routers = {"simple": SimpleRouter(), "paths": SimpleRouter(use_regex_path=False), "default": DefaultRouter(), "without suffixes": Plain()}
results = {}
for name, router in routers.items():
    router.register("items", Items, basename="item")
    urls.urlpatterns = [path("api/", include(router.urls))]
    clear_url_caches()
    world = World(Policy.from_yaml(ITEMS))
    try:
        application = protect(get_wsgi_application(), world.gate)
    except RoutesDiffer as error:
        results[name] = str(error).splitlines()[-1]
        continue
    headers = world.headers("read:a")
    targets = ["/api/", "/api/items/", "/api/items", "/api/items/7/", "/api/items/7/history/", "/api/items/7.json", "/api/items//"]
    results[name] = [call_wsgi(application, target, headers) for target in targets]
    results[name].append(call_wsgi(application, "/api/items/", headers, REQUEST_METHOD="POST"))
print(json.dumps(results))
"""
# Every path ends in a slash, as Django's do.
ITEMS = """
orbgate: 1
trailing_slash: always
apis:
  a:
    base_path: /api
    scopes:
      read:a: { orbs: false, routes: [GET /, GET /items, "GET /items/{pk}", "GET /items/{pk}/history"] }
      write:a: { orbs: false, routes: [POST /items] }
...
"""


def test_routers_of_django_rest_framework_are_protected() -> None:
    # A request without the slash isn't redirected: the gate answers it. Callers with only `read:a` may not create.
    statuses = [200, 404, 200, 200, 404, 400, 403]
    suffixes = "Format suffixes are other spellings of a route: set `include_format_suffixes = False` on the router, or use `SimpleRouter`."
    expected = {"simple": [404, *statuses], "paths": [404, *statuses], "default": suffixes, "without suffixes": [200, *statuses]}
    assert said_by(REST) == expected


VIEWS = """
from django.http import HttpResponse
from django.urls import clear_url_caches, path
from django.views import View
from django.views.decorators.http import require_http_methods
from django.views.generic import RedirectView
from orbgate import Policy
from orbgate.gate.django import around
from test_gate import USERS, World, call, call_wsgi
from test_gate_dispatch import PREFLIGHT

configure()
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

get_wsgi_application()
ran = []

def user(request, id):
    ran.append(request.method)
    return HttpResponse(id)

class Default(View):
    def get(self, request, id): raise AssertionError

class Own(Default):
    def options(self, request, id): return user(request, id)

class Shared(View):
    def get(self, request, id): return user(request, id)
    options = get

class Dispatches(Default):
    def dispatch(self, request, id): return user(request, id)

class Redirects(RedirectView):
    def get(self, request, id): return user(request, id)

class Items(ViewSet):
    def retrieve(self, request, id): return user(request, id)

@api_view(["GET"])
def of_rest(request, id): return user(request, id)

@api_view(["GET", "OPTIONS"])
def all_of_rest(request, id): return user(request, id)

views = {
    "a function": user,
    "a function for OPTIONS": require_http_methods(["OPTIONS"])(user),
    "a class": Default.as_view(),
    "a method": Own.as_view(),
    "a method of two": Shared.as_view(),
    "a class that dispatches": Dispatches.as_view(),
    "a redirect": Redirects.as_view(url="/"),
    "a view set": Items.as_view({"get": "retrieve"}),
    "an action of two": Items.as_view({"get": "retrieve", "options": "retrieve"}),
    "a function of REST framework": of_rest,
    "a function of REST framework for two": all_of_rest,
}
results = {}
preflight = {name.decode(): value.decode() for name, value in PREFLIGHT}
environ = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in preflight.items()}
for name, view in {**views, "nothing": None}.items():
    urls.urlpatterns = [path("users/<id>", view)] if view else []
    clear_url_caches()
    world = World(Policy.from_yaml(USERS), cors_preflight="pass")
    over_asgi = call(around(get_asgi_application(), world.gate), "/users/7", PREFLIGHT, method="OPTIONS")[0]
    no_token = [(b"authorization", b"")]
    over_wsgi = call_wsgi(around(get_wsgi_application(), world.gate), "/users/7", no_token, REQUEST_METHOD="OPTIONS", **environ)
    results[name] = [over_asgi, over_wsgi, len(ran), len(world.audit)]
    ran.clear()
print(json.dumps(results))
"""


def test_a_preflight_runs_only_a_django_view_for_options() -> None:
    pytest.importorskip("rest_framework")
    denied, answered = [404, 404, 0, 2], [200, 200, 0, 2]
    assert said_by(VIEWS) == {
        "a function": denied,
        "a function for OPTIONS": denied,
        "a class": answered,
        "a method": [200, 200, 2, 2],
        "a method of two": denied,
        "a class that dispatches": denied,
        "a redirect": denied,
        "a view set": answered,
        "an action of two": denied,
        "a function of REST framework": answered,
        "a function of REST framework for two": denied,
        "nothing": denied,
    }
