"""Read-only tools over a small shop, for the example catalogue."""

from dataclasses import dataclass
from typing import Literal

from loopspan import tool


@dataclass(frozen=True)
class Order:
    """An order of the shop."""

    number: int
    customer: str
    goods: str
    status: Literal["packed", "sent", "delivered", "lost"]
    total_eur: float


ORDERS = (
    Order(1001, "Ada", "book", "delivered", 24.90),
    Order(1002, "Grace", "lamp", "sent", 79.00),
    Order(1003, "Ada", "headphones", "lost", 129.00),
)

RULES = {
    "book": "30 days, unread",
    "lamp": "14 days, in its box",
    "headphones": "14 days, sealed; a lost parcel is always refunded",
}


@tool(group="orders")
def find_order(number: int) -> Order | dict[str, str]:
    """Find an order by its number and tell where it is.

    Args:
        number: The number of the order, such as 1002.
    """
    for order in ORDERS:
        if order.number == number:
            return order
    return {"error": f"there is no order {number}"}


@tool(group="orders")
def list_orders(customer: str) -> list[Order] | dict[str, str]:
    """List the orders of a customer.

    Args:
        customer: The customer's first name.
    """
    found = [order for order in ORDERS if order.customer.lower() == customer.lower()]
    return found or {"error": f"there is no customer {customer!r}"}


@tool(group="rules")
def refund_rules(goods: Literal["book", "lamp", "headphones"]) -> str:
    """Read the refund rules for a kind of goods.

    Args:
        goods: The kind of goods.
    """
    return RULES[goods]
